import type { Database } from "../session.ts";
import { FileDatabase } from "./file-database.ts";

/** When the server's checkpointer acts; sizes in bytes. */
interface CheckpointerOptions {
  everyMs?: number;
  /** From this size on once no write waits; from four times the size on in any case. */
  walBytes?: number;
}

/** Pauses after an attempt that failed at once, and after one that waited for a reader of another program. */
const shortPauseMs = 5000;
const longPauseMs = 300_000;

/**
 * Starts the only checkpointer of a server; commands checkpoint at most once, at close, when no server runs. `stop` empties
 * the WAL for the last time. A database without a WAL is left alone.
 */
export function startCheckpointer(db: Database, options: CheckpointerOptions = {}): { stop(): Promise<void> } {
  const limit = options.walBytes ?? 4 * 1024 * 1024;
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
    if (size >= limit * 4 || (size >= limit && isIdle(db))) running = checkpoint();
  }, options.everyMs ?? 250);
  timer.unref();

  return {
    async stop() {
      clearInterval(timer);
      await running;
      if (db.walBytes() > 0) await db.checkpoint().catch(() => false);
    },
  };
}

function isIdle(db: Database): boolean {
  return !(db instanceof FileDatabase) || db.queue.isIdle;
}
