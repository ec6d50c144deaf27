import { unavailable } from "../../errors.ts";
import { FileLock } from "./file-lock.ts";
import { loadLibsql } from "./load-libsql.ts";

const lookEveryMs = 20;
/** Files are changed for others within a moment; nobody waits longer for it than for a locked database. */
const timeoutMs = 30_000;

/**
 * Notes that this process has the database file open, for as long as the lock is kept. A file that is put into another's
 * place while somebody has that open would be written over by the other's log.
 * @throws unavailable when the file is being replaced all the while.
 */
export async function shareFile(path: string): Promise<FileLock> {
  return waitFor(path, (lock) => lock.tryShared(), "The database is being replaced by another command.");
}

/**
 * Waits until no process has the database file open, and lets none open it until the lock is closed.
 * @throws unavailable when somebody keeps it open; the signal's reason.
 */
export async function claimFile(path: string, patience = timeoutMs, signal?: AbortSignal): Promise<FileLock> {
  const message = "Another command works with the database; nothing was done. Try again when it has ended.";
  return waitFor(path, (lock) => lock.tryExclusive(), message, patience, signal);
}

async function waitFor(
  path: string,
  take: (lock: FileLock) => boolean,
  message: string,
  patience = timeoutMs,
  signal?: AbortSignal,
): Promise<FileLock> {
  const lock = new FileLock(await loadLibsql(), `${path}-users`);
  const deadline = performance.now() + patience;
  try {
    while (!take(lock)) {
      if (performance.now() > deadline) throw unavailable(message);
      await Bun.sleep(lookEveryMs);
      signal?.throwIfAborted();
    }
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}
