import { formatBytes, MiB } from "../../values/bytes.ts";
import type { Database } from "../session.ts";
import { FileDatabase } from "./file-database.ts";

/** A pause after an attempt that waited for a reader of another program. */
const longPauseMs = 300_000;
/** A WAL that is kept from being emptied by readers is normal up to this size. */
export const largeWalBytes = 64 * MiB;
const ignore = (_level: "info" | "warn", _message: string): void => {};

/**
 * Starts the only checkpointer of a server; commands checkpoint at most once, at close, when no server runs. `stop` empties
 * the WAL for the last time. A database without a WAL is left alone.
 * @param options `notice` is called once when the WAL cannot be emptied, and once when it can again. `walBytes`: from this
 * size on it acts once no write waits; from four times the size on in any case. `pauseMs` follows an attempt that failed.
 */
export function startCheckpointer(
  db: Database,
  { notice = ignore, everyMs = 250, walBytes: limit = 4 * MiB, pauseMs = 5000 } = {},
) {
  let pausedUntil = 0;
  let isFailing = false;
  let running: Promise<void> | undefined;

  async function checkpoint(): Promise<void> {
    const started = performance.now();
    const result = await db.checkpoint().catch((error: Error) => error);
    const emptied = result === true;
    const ended = performance.now();
    // A backup holds the readers' lock, so the attempt ends at once. An open transaction of another program blocks this
    // process for the whole busy timeout, so the next attempt is later.
    if (!emptied) pausedUntil = ended + (ended - started > 1000 ? longPauseMs : pauseMs);
    running = undefined;
    const size = db.walBytes();
    if (isFailing === !emptied || (result === false && size <= largeWalBytes)) return;
    isFailing = !emptied;
    const reason = result instanceof Error ? result.message : "a backup or another program uses the database";
    if (emptied) notice("info", "the WAL was emptied again");
    else notice("warn", `the WAL (${formatBytes(size)}) cannot be emptied and grows with each write: ${reason}`);
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
