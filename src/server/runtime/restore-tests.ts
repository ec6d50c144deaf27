import { readLast, recordResult } from "../backup/last.ts";
import { restoreTestPlace } from "../backup/location.ts";
import { removeStaleRestores } from "../backup/restore/temp-dir.ts";
import { type CommandRun, runServerCommand } from "../backup/server-command.ts";
import type { Config } from "../config/config.ts";
import type { LogWriter } from "../logging/logger.ts";

const pollMs = 10 * 60_000;
const hour = 3_600_000;
const timeoutMs = 2 * hour;

type Deps = CommandRun & Pick<LogWriter, "notice"> & { now?: () => number };

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
    const { signal } = stopping;
    const { failure: message } = await runServerCommand(config, ["db", "test-restore"], {
      command,
      env,
      signal,
      timeoutMs,
    });
    await removeStaleRestores(dataDir);
    if (signal.aborted) return;
    if (message === undefined) return notice("info", `a restore from ${place} was tested and succeeded`);
    recordResult(dataDir, "restore-test", { last_failure: { at: new Date().toISOString(), place, message } });
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
