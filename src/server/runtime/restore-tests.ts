import { readLast, recordResult } from "../backup/last.ts";
import { restoreTestPlace } from "../backup/location.ts";
import { removeStaleRestores } from "../backup/restore/temp-dir.ts";
import type { BackupRun } from "../backup/run-backup.ts";
import { type Config, inheritConfig } from "../config/config.ts";
import { workingDir } from "../config/data-dir.ts";
import type { LogWriter } from "../logging/logger.ts";

const pollMs = 10 * 60_000;
const hour = 3_600_000;
const maxTestMs = 2 * hour;

type Deps = Pick<BackupRun, "command" | "env"> & Pick<LogWriter, "notice"> & { now?: () => number };

/** Tests a restore in a process of its own: a day after the last success, an hour after a failure. */
export function startRestoreTests(config: Config, { command, env, notice, now = Date.now }: Deps) {
  const { dataDir } = config;
  const place = restoreTestPlace(config);
  if (place === undefined) return undefined;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  function isDue(): boolean {
    const { last_success: success, last_failure: failure } = readLast(dataDir, "restore-test");
    const last = failure ?? success;
    const ageMs = now() - Date.parse(last?.at ?? "");
    return last?.place !== place || ageMs < 0 || ageMs >= (failure ? hour : 24 * hour);
  }

  async function run(): Promise<void> {
    const child = Bun.spawn([...command, "db", "test-restore"], {
      ...workingDir(dataDir),
      env: inheritConfig(config, env),
      stdio: ["ignore", "ignore", "ignore"],
      // The child ends when this channel closes.
      ipc() {},
      detached: true,
      ...{ signal: stopping.signal, timeout: maxTestMs, killSignal: "SIGKILL" },
    });
    await child.exited;
    await removeStaleRestores(dataDir);
    if (stopping.signal.aborted) return;
    if (child.exitCode === 0) return notice("info", `a restore from ${place} was tested and succeeded`);
    const killed = {
      at: new Date(now()).toISOString(),
      place,
      message: `Its process was ended by ${child.signalCode}.`,
    };
    if (child.signalCode !== null) recordResult(dataDir, "restore-test", { last_failure: killed });
    const { message } = readLast(dataDir, "restore-test").last_failure ?? {};
    notice("warn", `the restore test failed, next attempt in an hour: ${message}`);
  }

  const check = () => {
    if (running === undefined && isDue()) running = run().finally(() => (running = undefined));
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
