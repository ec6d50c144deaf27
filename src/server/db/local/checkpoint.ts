import { MiB } from "../../values/bytes.ts";
import type { Database } from "../session.ts";
import { FileDatabase } from "./file-database.ts";

/** Pauses after an attempt that failed at once, and after one that waited for a reader of another program. */
const shortPauseMs = 5000;
const longPauseMs = 300_000;

/**
 * Starts the only checkpointer of a server; commands checkpoint at most once, at close, when no server runs. `stop` empties
 * the WAL for the last time. A database without a WAL is left alone.
 * @param options `walBytes`: from this size of the WAL on it acts once no write waits; from four times the size on in any
 * case.
 */
export function startCheckpointer(db: Database, { everyMs = 250, walBytes: limit = 4 * MiB } = {}) {
  let pausedUntil = 0;
  let running: Promise<void> | undefined;

  async function checkpoint(): Promise<void> {
    const started = performance.now();
    const emptied = await db.checkpoint().catch(() => false);
    const ended = performance.now();
    // A backup holds the readers' lock, so the attempt ends at once. An open transaction of another program blocks this
    // process for the whole busy timeout, so the next attempt is later.
    if (!emptied) pausedUntil = ended + (ended - started > 1000 ? longPauseMs : shortPauseMs);
    running = undefined;
  }

  const timer = setInterval(() => {
    if (running !== undefined || performance.now() < pausedUntil) return;
    const size = db.walBytes();
    const isIdle = !(db instanceof FileDatabase) || db.queue.isIdle;
    if (size >= limit * 4 || (size >= limit && isIdle)) running = checkpoint();
  }, everyMs);
  timer.unref();

  return {
    async stop() {
      clearInterval(timer);
      await running;
      if (db.walBytes() > 0) await db.checkpoint().catch(() => false);
    },
  };
}
