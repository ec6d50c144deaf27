import { readLast, recordResult } from "../backup/last.ts";
import { maxRehearsalMs, rehearsedPlace } from "../backup/location.ts";
import { removeStaleRestores } from "../backup/restore/temp-dir.ts";
import type { BackupRun } from "../backup/run-backup.ts";
import { type Config, inheritConfig } from "../config/config.ts";
import { workingDir } from "../config/data-dir.ts";
import { reasonOf } from "../health/finding.ts";
import type { LogWriter } from "../logging/logger.ts";

type Deps = Pick<BackupRun, "command" | "env"> & Pick<LogWriter, "notice"> & { now?: () => number };

const pollMs = 60_000;
const firstMs = 10 * pollMs;
const retryMs = 3_600_000;
const everyMs = 24 * retryMs;

/** Rehearses a restore once a day, in a process of its own. `check` must be called each minute. */
export function startRehearsals(config: Config, deps: Deps) {
  const { notice, now = Date.now } = deps;
  const place = rehearsedPlace(config);
  if (place === undefined) return undefined;
  const stopping = new AbortController();
  const { last_success: last } = readLast(config.dataDir, "rehearsal");
  let dueAt = Math.max(now() + firstMs, last?.place === place ? Date.parse(last.at) + everyMs : 0);
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const failure = await runProcess(config, deps, stopping.signal).catch(reasonOf);
    dueAt = now() + (failure === undefined ? everyMs : retryMs);
    running = undefined;
    if (stopping.signal.aborted) return;
    if (failure === undefined) notice("info", `a restore from ${place} was rehearsed and succeeded`);
    else notice("warn", `the rehearsal of a restore failed, next attempt in an hour: ${failure}`);
  }

  const check = () => {
    // A clock that was set back must not postpone it.
    if (now() >= dueAt || dueAt - now() > everyMs) running ??= run();
    return running;
  };
  const timer = setInterval(check, pollMs);
  return {
    check,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

/** Returns why `db rehearse` failed; undefined where it succeeded. That process notes the result. */
async function runProcess(config: Config, { command, env }: Deps, signal: AbortSignal): Promise<string | undefined> {
  const { dataDir } = config;
  const child = Bun.spawn([...command, "db", "rehearse"], {
    ...workingDir(dataDir),
    env: inheritConfig(config, env),
    stdio: ["ignore", "ignore", "ignore"],
    ipc() {},
    detached: true,
    ...{ signal, timeout: maxRehearsalMs, killSignal: "SIGKILL" },
  });
  await child.exited;
  await removeStaleRestores(dataDir);
  if (signal.aborted || child.exitCode === 0) return undefined;
  const message = `Its process was ended by ${child.signalCode}.`;
  const at = new Date().toISOString();
  if (child.signalCode !== null)
    recordResult(dataDir, "rehearsal", { last_failure: { at, message, place: rehearsedPlace(config) } });
  return readLast(dataDir, "rehearsal").last_failure?.message ?? "Its result could not be noted.";
}
