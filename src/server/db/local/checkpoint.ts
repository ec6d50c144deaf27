import { runEvery } from "../../concurrency/run-every.ts";
import { formatBytes, MiB } from "../../values/units.ts";
import { sqliteCodeOf } from "../db-errors.ts";
import type { FileDatabase } from "./file-database.ts";

/** Readers can delay emptying the WAL. Up to this size, that is normal. */
export const largeWalBytes = 64 * MiB;
/** Milliseconds to pause after an attempt that waited for another program. The pause is longest for a small WAL. */
const longPauses = { most: 300_000, least: 10_000 };
const leastPauseMs = 250;
/** If less disk space is free, the next write may fail. */
const minFreeBytes = MiB;
const ignore = (_level: "info" | "warn", _message: string): void => {};

/**
 * Starts the only checkpointer of a server. Commands checkpoint at most once, when they close the database and no
 * server runs. `stop` empties the WAL a last time.
 * @param options `notice` is called when the WAL cannot be emptied, when this works again, and when the reserved disk
 * space is freed. `walBytes`: the size from which the WAL is emptied. `pauseMs`: the longest pause after a failure.
 */
export function startCheckpointer(
  db: FileDatabase,
  { notice = ignore, everyMs = 100, walBytes: limit = 4 * MiB, pauseMs = 5000 } = {},
) {
  const { reserve } = db;
  let failed: { at: number; tookMs: number } | undefined;
  let isFailing = false;

  const attempt = () => db.checkpoint().catch((error: Error) => error);

  async function checkpoint(): Promise<void> {
    const started = performance.now();
    let result = await attempt();
    if (sqliteCodeOf(result) === "SQLITE_FULL" && reserve.release()) {
      notice("warn", "the disk is full: reserved space was freed to empty the WAL");
      result = await attempt();
    }
    const size = db.walBytes();
    const emptied = result === true;
    failed = emptied ? undefined : { at: performance.now(), tookMs: performance.now() - started };
    if (emptied) await fillReserve();
    if (isFailing === emptied && (result !== false || size > largeWalBytes)) reportChange(result, size);
  }

  function reportChange(result: boolean | Error, size: number): void {
    isFailing = result !== true;
    const reason = result instanceof Error ? result.message : "a backup or another program uses the database";
    if (!isFailing) notice("info", "the WAL was emptied again");
    else notice("warn", `the WAL (${formatBytes(size)}) cannot be emptied and grows with each write: ${reason}`);
  }

  /** Whether to wait before the next attempt. The pause gets shorter as the WAL grows. */
  function isPaused(): boolean {
    if (failed === undefined) return false;
    // A backup holds the readers' lock, so an attempt during a backup fails at once. Another program's open transaction
    // blocks this process for the whole busy timeout.
    const isLong = failed.tookMs > 1000;
    const { most, least } = isLong ? longPauses : { most: pauseMs, least: Math.min(pauseMs, leastPauseMs) };
    return performance.now() < failed.at + Math.max(least, most * (1 - db.walBytes() / largeWalBytes));
  }

  /** Reserves disk space. A failure is ignored: the next poll tries again, and the doctor reports a full disk. */
  const fillReserve = () => reserve.fill().catch(() => {});

  function isDue(): boolean {
    const size = db.walBytes();
    if (size === 0 || !db.mayEmptyWal()) return false;
    // The WAL is emptied even while writes wait, because a larger WAL would delay them longer.
    return size >= limit || reserve.freeBytes < minFreeBytes;
  }

  // The ballast file is filled as soon as there is room, because the next writes may fill the disk.
  const polling = runEvery(everyMs, () => (!isPaused() && isDue() ? checkpoint() : fillReserve()));

  return {
    async stop() {
      await polling.stop();
      if (db.walBytes() > 0) await attempt();
    },
  };
}
