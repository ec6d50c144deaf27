import type { Connection } from "./connection.ts";
import type { FileLock } from "./file-lock.ts";
import type { LocalReader } from "./local-reader.ts";
import type { WriterQueue } from "./writer-queue.ts";

/** What a checkpoint needs: the queue and its writer, a connection with a long busy timeout, and the readers' lock. */
export interface CheckpointParts {
  queue: WriterQueue;
  writer: Connection;
  checkpointer: Connection;
  reader: LocalReader;
  /** Shared by everyone who keeps a snapshot for long; taken alone here. */
  readersLock: FileLock;
}

/**
 * Moves the log into the database file and empties it. The bundled SQLite can lose pages when a commit runs beside a
 * checkpoint, so only TRUNCATE is used, which holds the write lock: first the lock is proved to be free, waiting
 * asynchronously; then, without a turn of the event loop in between, it is taken by a connection whose long busy
 * timeout keeps SQLite from falling back to a checkpoint beside the writers. Since that timeout would also stop this
 * process behind a long reader, it is not begun while there is one. Answers whether the log was emptied.
 */
export function truncateLog({ queue, writer, reader, checkpointer, readersLock }: CheckpointParts): Promise<boolean> {
  return queue.exclusive(async () => {
    if (!(await queue.beginAlone())) return false;
    writer.run("ROLLBACK");
    if (!readersLock.tryExclusive()) return false;
    try {
      // A snapshot of this very process would be waited for in vain.
      reader.dropSnapshot();
      return checkpointer.run("PRAGMA wal_checkpoint(TRUNCATE)").rows[0]?.[0] === 0;
    } finally {
      readersLock.release();
    }
  });
}
