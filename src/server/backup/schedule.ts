import { runEvery } from "../concurrency/run-every.ts";
import { type Config, inheritConfig } from "../config/config.ts";
import { workingDir } from "../config/data-dir.ts";
import { type Environment, invalidOption } from "../config/environment.ts";
import type { LogWriter } from "../logging/logger.ts";
import { openStorage } from "../object-store/open-storage.ts";
import { attempt } from "../values/attempt.ts";
import { formatBytes, formatDuration } from "../values/units.ts";
import { backupsFolder, parseDestination, readLast, recordResult, restoreTestPlace } from "./location.ts";
import type { BackupReport } from "./make-backup.ts";
import { removeStaleRestores } from "./restore/temp-dir.ts";

const minute = 60_000;
const hour = 60 * minute;
/** How long a command that must stop may take to remove unfinished work, such as the parts of an upload. */
const cleanUpMs = 5000;

export interface CommandRun {
  /** The words that start this program: the executable, or a runtime and the path of the source. */
  command: readonly string[];
  env: Environment;
}

interface ScheduledCommand {
  kind: "backup" | "restore-test";
  words: string[];
  /** Only recorded results with a `place` that begins with this text count for this schedule. */
  place: string;
  everyMs: number;
  retryMs: number;
  pollMs: number;
  /** The time limit of a run, so that a place that hangs does not block later runs. */
  timeoutMs: number;
  describe(stdout: string): { message: string; warnings: string[] };
}

/** Returns undefined without `--backup-every`. Throws validationFailed for a file, or for S3 without an account. */
export function scheduleBackups(config: Config): ScheduledCommand | undefined {
  const { backupEveryMs: everyMs, backupKeep: keep, backupTo, dataDir } = config;
  if (everyMs === undefined) return undefined;
  const { place, name } = parseDestination(backupTo ?? backupsFolder(dataDir), "--backup-to");
  if (name !== undefined) throw invalidOption("--backup-to", "must be a directory or s3://bucket/prefix");
  openStorage(place, config);
  const [retryMs, pollMs] = [Math.min(5 * minute, everyMs), Math.min(minute, everyMs)];
  return {
    kind: "backup",
    words: ["db", "backup", "--to", place, ...(keep === undefined ? [] : ["--keep", String(keep)])],
    ...{ place, everyMs, retryMs, pollMs, timeoutMs: 4 * hour },
    describe(stdout) {
      const { backup, bytes, removed, warnings }: BackupReport = JSON.parse(stdout);
      const old = removed.length === 0 ? "" : `; ${removed.length} older removed`;
      const toWarning = (warning: string) => `the backup ${backup} is complete, but ${warning}`;
      return { message: `backup made: ${backup} (${formatBytes(bytes)}${old})`, warnings: warnings.map(toWarning) };
    },
  };
}

/** Returns undefined if there is neither a replica nor scheduled backups. */
export function scheduleRestoreTests(config: Config): ScheduledCommand | undefined {
  const place = restoreTestPlace(config);
  if (place === undefined) return undefined;
  return {
    kind: "restore-test",
    words: ["db", "test-restore"],
    ...{ place, everyMs: 24 * hour, retryMs: hour, pollMs: 10 * minute, timeoutMs: 2 * hour },
    describe: () => ({ message: `a restore from ${place} was tested and succeeded`, warnings: [] }),
  };
}

/** Runs a command when its last recorded result is old enough. So a restart of the server does not change the times. */
export function startSchedule(
  config: Config,
  scheduled: ScheduledCommand,
  { command, env, notice, now = Date.now }: CommandRun & Pick<LogWriter, "notice"> & { now?: () => number },
) {
  const { kind, words, place, everyMs, retryMs, pollMs, timeoutMs, describe } = scheduled;
  const { dataDir } = config;
  const stopping = new AbortController();
  const { signal } = stopping;

  function isDue(): boolean {
    const { last_success: success, last_failure: failure } = readLast(dataDir, kind);
    const last = failure ?? success;
    const ageMs = now() - Date.parse(last?.at ?? "");
    return !last?.place?.startsWith(place) || ageMs < 0 || ageMs >= (failure ? retryMs : everyMs);
  }

  async function run(): Promise<void> {
    const { stdout, failure } = await runServerCommand(config, words, { command, env, signal, timeoutMs });
    await removeStaleRestores(dataDir);
    if (signal.aborted) return;
    if (failure !== undefined) {
      recordResult(dataDir, kind, { last_failure: { at: new Date().toISOString(), place, message: failure } });
      const what = kind === "backup" ? "backup" : "restore test";
      return notice("warn", `the ${what} failed, next attempt in ${formatDuration(retryMs)}: ${failure}`);
    }
    const { message, warnings } = describe(stdout);
    notice("info", message);
    for (const warning of warnings) notice("warn", warning);
  }

  const polling = runEvery(pollMs, async () => isDue() && run());
  return {
    /** Runs the command at once if it is due. */
    check: polling.run,
    stop() {
      stopping.abort();
      return polling.stop();
    },
  };
}

/**
 * Runs a command of this program with the settings of a server. The command ends when the server ends, when the signal
 * aborts, or after `timeoutMs`.
 * @returns the output, and the reason of a failure if the command failed.
 */
async function runServerCommand(
  config: Config,
  words: readonly string[],
  { command, env, signal, timeoutMs }: CommandRun & { signal: AbortSignal; timeoutMs: number },
): Promise<{ stdout: string; failure: string | undefined }> {
  const child = Bun.spawn([...command, ...words, "--json"], {
    ...workingDir(config.dataDir),
    env: inheritConfig(config, env),
    stdio: ["ignore", "pipe", "pipe"],
    // The command ends when this channel to it closes. The channel also closes when this process ends.
    ipc() {},
    detached: true,
    ...{ timeout: timeoutMs, killSignal: "SIGKILL" },
  });
  const abort = () => {
    child.disconnect();
    setTimeout(() => child.kill("SIGKILL"), cleanUpMs).unref();
  };
  signal.addEventListener("abort", abort);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  signal.removeEventListener("abort", abort);
  if (child.exitCode === 0) return { stdout, failure: undefined };
  const lastLine = stderr.trim().split("\n").at(-1) ?? "";
  const message = attempt(() => String(JSON.parse(lastLine).error.message));
  const end = child.signalCode ?? `exit code ${child.exitCode}`;
  return { stdout, failure: message ?? `The process ended (${end}). ${lastLine}`.trimEnd() };
}
