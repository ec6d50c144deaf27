import { chmodSync, chownSync, copyFileSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { runSystemctl } from "../../../server/admin/systemctl.ts";
import type { DatabaseConfig } from "../../../server/config/config.ts";
import { syncFile } from "../../../server/db/local/sync-file.ts";
import { AppError, unavailable, wrongState } from "../../../server/errors.ts";
import { readServerStatus } from "../../../server/monitoring/control-socket.ts";
import { storageError } from "../../../server/object-store/storage.ts";
import { attempt } from "../../../server/values/attempt.ts";
import { findReason } from "../../framework/report-error.ts";
import { probeHealth } from "../health/health.ts";
import { findCopyBefore, inspectVersion, runProgram } from "./other-version.ts";

const probeMs = 2000;
const everyMs = 200;

interface Change {
  installed: string;
  from: string;
  to: string;
  /** The copy of the database that the next version needs; null keeps the database. */
  restores: string | null;
  config: DatabaseConfig;
  /** The systemd unit of the running server; null where none runs. */
  unit: string | null;
  timeoutMs: number;
}

/** Where the version is kept that the last change replaced. */
export const previousOf = (installed: string) => `${installed}.previous`;

export function placeBeside(file: string, installed: string): string {
  const placed = `${installed}.next`;
  try {
    const { mode, uid, gid } = statSync(installed);
    copyFileSync(file, placed);
    chownSync(placed, uid, gid);
    chmodSync(placed, mode);
    syncFile(placed);
    return placed;
  } catch (cause) {
    attempt(() => rmSync(placed, { force: true }));
    throw storageError(cause, placed, "Cannot write");
  }
}

/** Puts an executable in the place of the installed one, which exists at any moment, and keeps that as the previous. */
function swapExecutable(installed: string, next: string): void {
  const aside = `${installed}.replaced`;
  rmSync(aside, { force: true });
  linkSync(installed, aside);
  renameSync(next, installed);
  renameSync(aside, previousOf(installed));
  syncFile(dirname(installed));
}

/**
 * Installs another version and has the server run it. If that fails, the version before runs again, with the database
 * from before a migration.
 * @param next its executable, beside the installed one.
 * @returns where a database that was replaced is kept; null where none was.
 * @throws unavailable when the other version failed.
 */
export async function changeVersion(change: Change, next: string): Promise<string | null> {
  const { installed, unit, from, to, config } = change;
  let kept: string | null = null;
  const run = async (copy: string | null | undefined) => {
    if (copy) kept = (await runProgram<{ kept: string }>(installed, ["db", "restore", copy, "--yes"], config)).kept;
    if (unit !== null) await startServer(unit, change);
  };
  swapExecutable(installed, next);
  try {
    if (unit !== null) runSystemctl("stop", unit);
    await run(change.restores);
    return kept;
  } catch (error) {
    const options = { exit: 1, cause: error, remedy: unit ? `See its log: journalctl -u ${unit}` : undefined } as const;
    try {
      swapExecutable(installed, previousOf(installed));
      if (next !== previousOf(installed)) rmSync(previousOf(installed));
      if (unit !== null) attempt(() => runSystemctl("stop", unit));
      const { unknown } = await inspectVersion(installed, config);
      await run(kept ?? (unknown[0] && findCopyBefore(unknown[0], config)));
    } catch (second) {
      const failure = `Going back to version ${from} failed, too: ${reasonOf(second)}`;
      throw unavailable(`Version ${to} failed: ${reasonOf(error)} ${failure}`, options);
    }
    const restored = kept ? ` The database is the one from before; that of version ${to} is ${kept}.` : "";
    throw unavailable(`Version ${to} failed, and version ${from} is back: ${reasonOf(error)}${restored}`, options);
  }
}

const reasonOf = (error: unknown) => (error instanceof AppError ? error.message : findReason(error));

/** Starts the unit and waits until its server is ready. Errors: unavailable when it ends or takes too long. */
async function startServer(unit: string, { config, timeoutMs }: Change): Promise<void> {
  // Where systemd refused to stop the server, it still runs.
  if (findMainProcess(unit) === 0) runSystemctl("start", unit);
  const pid = findMainProcess(unit);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const status = await readServerStatus(config.dataDir, AbortSignal.timeout(probeMs));
    if (status?.pid === pid && (await probeHealth(status.url, probeMs, true)).status === "ready") return;
    // systemd starts a server that ends again and again.
    if (pid === 0 || findMainProcess(unit) !== pid) throw unavailable("Its server ended.");
    if (performance.now() > deadline) throw unavailable(`It was not ready within ${timeoutMs / 1000} s.`);
    await Bun.sleep(everyMs);
  }
}

function findMainProcess(unit: string): number {
  return Number(attempt(() => runSystemctl("show", "--property=MainPID", "--value", unit)) ?? 0);
}

/** The unit, if it runs the server of the data directory; null where no server runs. Errors: wrongState for another. */
export async function requireUnit({ dataDir }: DatabaseConfig, unit: string): Promise<string | null> {
  const status = await readServerStatus(dataDir);
  if (status === null) return null;
  if (findMainProcess(unit) === status.pid) return unit;
  const remedy = `Name its unit with --unit, or stop it, upgrade, and start it again: kill ${status.pid}`;
  const server = `The server on ${dataDir} (process ${status.pid})`;
  throw wrongState(`${server} is not run by the systemd unit ${unit}.`, { remedy });
}
