import type { Connection } from "./connection.ts";
import type { Database } from "./session.ts";
import type { WriterQueue } from "./writer-queue.ts";

/** When the server's checkpointer acts; sizes in bytes. */
export interface CheckpointerOptions {
  everyMs?: number;
  /** From this size on, as soon as nothing waits to be written. */
  walBytes?: number;
}

/**
 * Moves the log into the database file and empties it. The bundled SQLite can lose pages when a commit runs beside a
 * checkpoint, so only TRUNCATE is used, which holds the write lock: first the lock is proved to be free, waiting
 * asynchronously; then, without a turn of the event loop in between, it is taken by a connection whose long busy
 * timeout keeps SQLite from falling back to a checkpoint beside the writers. Answers whether the log was emptied.
 */
export function truncateLog(queue: WriterQueue, writer: Connection, checkpointer: Connection): Promise<boolean> {
  return queue.exclusive(async () => {
    if (!(await queue.beginAlone())) return false;
    writer.run("ROLLBACK");
    const row = checkpointer.run("PRAGMA wal_checkpoint(TRUNCATE)").rows[0];
    return row?.[0] === 0;
  });
}

/** The server's only checkpointer; commands checkpoint at most once, at close, when no server runs. */
export function startCheckpointer(db: Database, options: CheckpointerOptions = {}): { stop(): Promise<void> } {
  const limit = options.walBytes ?? 4 * 1024 * 1024;
  let pauseUntil = 0;
  let running: Promise<void> | undefined;
  async function check(): Promise<void> {
    try {
      const emptied = await db.checkpoint();
      // A reader elsewhere holds its snapshot: waiting for it again at once would stall this process each time.
      if (!emptied) pauseUntil = performance.now() + 60_000;
    } catch {
      pauseUntil = performance.now() + 60_000;
    }
    running = undefined;
  }
  const timer = setInterval(() => {
    if (running !== undefined || performance.now() < pauseUntil || db.walBytes() < limit) return;
    running = check();
  }, options.everyMs ?? 500);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
