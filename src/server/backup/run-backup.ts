import { randomBytes } from "node:crypto";
import { setPriority } from "node:os";
import { createWatchdog } from "../concurrency/with-timeout.ts";
import { type Config, inheritConfig } from "../config/config.ts";
import { removeIfPossible, workingDir } from "../config/data-dir.ts";
import type { Environment } from "../config/environment.ts";
import { AppError, unavailable } from "../errors.ts";
import { partialPath } from "../object-store/folder-storage.ts";
import { attempt } from "../values/attempt.ts";
import { type BackupJob, type BackupMessage, type BackupReport, type BackupStep, jobEnvironment } from "./job.ts";
import { recordResult } from "./last.ts";
import { stagingFolder } from "./location.ts";

export interface BackupRun extends Omit<BackupJob, "id"> {
  config: Config;
  command: readonly string[];
  env: Environment;
  onStep?: (step: BackupStep) => void;
  /** Aborting it ends the process at once; the promise then rejects with the signal's reason. */
  signal: AbortSignal;
  maxSilenceMs?: number;
}

/** Lower than the server's, but not the lowest: the WAL grows for as long as the backup copies. */
const lowPriority = 5;
const maxStderrBytes = 2000;
/** An S3 upload in parts needs this time to be removed. */
const abortS3Ms = 3000;
/** Long enough for three parts on a slow line. An S3 server or a disk that never answers must not block later backups. */
const defaultSilenceMs = 10 * 60_000;

/**
 * Makes a backup in a process of its own, because copying blocks a process.
 * @throws AppError as `makeBackup`; unavailable when the process was killed or made no progress.
 */
export async function runBackup(run: BackupRun): Promise<BackupReport> {
  run.signal.throwIfAborted();
  const { config, by, location, keep, includeKey } = run;
  const job: BackupJob = { by, location, keep, includeKey, id: randomBytes(8).toString("hex") };
  let outcome: BackupReport | AppError;
  try {
    outcome = await runProcess(run, job);
  } finally {
    removeUnfinished(config, job);
  }
  const at = new Date().toISOString();
  if (outcome instanceof AppError) {
    recordResult(config.dataDir, "backup", { last_failure: { at, message: outcome.message } });
    throw outcome;
  }
  const { backup, bytes } = outcome;
  recordResult(config.dataDir, "backup", { last_success: { at, place: backup, bytes }, last_failure: null });
  return outcome;
}

export function removeUnfinished({ dataDir }: Pick<Config, "dataDir">, { location, id }: BackupJob): void {
  removeIfPossible(stagingFolder(dataDir, id));
  if (location.kind === "folder") removeIfPossible(partialPath(location.place, id));
}

async function runProcess(run: BackupRun, job: BackupJob): Promise<BackupReport | AppError> {
  const { signal, maxSilenceMs = defaultSilenceMs } = run;
  let outcome: BackupReport | AppError | undefined;
  const watchdog = createWatchdog(maxSilenceMs, () => {
    outcome = unavailable(`The backup made no progress for ${Math.round(maxSilenceMs / 1000)} s and was cancelled.`);
    abort();
  });
  const child = Bun.spawn([...run.command, "db", "backup"], {
    ...workingDir(run.config.dataDir),
    env: { ...inheritConfig(run.config, run.env), ...jobEnvironment(job) },
    stdin: "ignore",
    stdout: job.location.kind === "stdout" ? "inherit" : "ignore",
    stderr: "pipe",
    ipc(message: BackupMessage) {
      if ("report" in message) outcome ??= message.report;
      else if ("error" in message) {
        const { kind, exit, message: text, remedy } = message.error;
        outcome ??= new AppError(kind, text, { exit, remedy });
      } else {
        // Waiting and checking report no progress, so they are not watched.
        watchdog.progress(message.step === "copying" || message.step === "packing");
        run.onStep?.(message);
      }
    },
    // Ctrl-C reaches only this process, which then decides.
    detached: true,
  });
  // The process may have ended, or the system may not permit it.
  attempt(() => setPriority(child.pid, lowPriority));
  const kill = () => child.kill("SIGKILL");
  function abort(): void {
    if (job.location.kind === "s3") {
      child.disconnect();
      setTimeout(kill, abortS3Ms).unref();
    } else kill();
  }
  signal.addEventListener("abort", abort);
  try {
    const stderr = (await child.stderr.text()).slice(-maxStderrBytes).trim();
    await child.exited;
    signal.throwIfAborted();
    const how = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
    return outcome ?? unavailable(`The backup process ended (${how})${stderr === "" ? "" : `: ${stderr}`}.`);
  } finally {
    watchdog.stop();
    signal.removeEventListener("abort", abort);
  }
}
