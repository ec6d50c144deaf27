import { readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { refuseStandby } from "../../config/data-dir.ts";
import { ownCommand } from "../../config/own-command.ts";
import { type AppError, unavailable, wrongState } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { FileLock } from "./file-lock.ts";
import { preserveCorruptWal } from "./kept-wal.ts";
import { loadLibsql } from "./load-libsql.ts";
import { hasWal } from "./merge-wal.ts";

const pollMs = 20;
/** How long to wait while another process replaces the file. A command waits equally long for the write lock. */
const shareTimeoutMs = 30_000;
const claimTimeoutMs = 60_000;

interface WaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** Called once when the wait begins, with the commands that have the database open. */
  onWait?: ((users: string) => void) | undefined;
}

/**
 * Marks the database file as open in this process until the lock is closed. `lockExclusive` waits for all such locks,
 * because an open database would write its WAL into the new file after a replacement.
 * @throws unavailable if the file is replaced again and again; wrongState for the directory of a standby, and for a WAL
 * without its database file, because SQLite would discard that WAL.
 */
export async function lockShared(path: string): Promise<FileLock> {
  refuseStandby(dirname(path));
  if (hasWal(path) && !statSync(path, { throwIfNoEntry: false })?.size) {
    const message = `${path} is missing or empty, but ${basename(path)}-wal beside it has the last writes.`;
    const remedy = "Put the file back; to start empty, move the WAL away. To restore a backup: bodega db restore";
    throw wrongState(message, { remedy });
  }
  const failure = () => unavailable("Another command is replacing the database. Try again when it has ended.");
  return waitFor(path, (lock) => lock.tryShared(), failure, { timeoutMs: shareTimeoutMs });
}

/**
 * Waits until no process has the database file open, and keeps it from being opened until the lock is closed.
 * @throws unavailable, which names the processes that keep it open; the signal's reason.
 */
export async function lockExclusive(path: string, options: WaitOptions = {}): Promise<FileLock> {
  const failure = () =>
    unavailable(`The database is in use (${describeUsers(path)}). Nothing was changed. Try again when it is free.`);
  return waitFor(path, (lock) => lock.tryExclusive(), failure, { timeoutMs: claimTimeoutMs, ...options });
}

async function waitFor(
  path: string,
  tryLock: (lock: FileLock) => boolean,
  failure: () => AppError,
  { timeoutMs = 0, signal, onWait }: WaitOptions,
): Promise<FileLock> {
  const lock = new FileLock(await loadLibsql(), `${path}-users`);
  let isWaiting = false;
  const deadline = performance.now() + timeoutMs;
  try {
    for (;;) {
      // SQLite applies the WAL when the first process opens the database. Before that, a damaged WAL is copied.
      if (hasWal(path) && lock.tryExclusive()) {
        preserveCorruptWal(path);
        lock.release();
      }
      if (tryLock(lock)) return lock;
      if (performance.now() > deadline) throw failure();
      if (!isWaiting) onWait?.(describeUsers(path));
      isWaiting = true;
      await Bun.sleep(pollMs);
      signal?.throwIfAborted();
    }
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Names the other processes that have a database open, as `product export, pid 4711`, where the system lists them. */
export function describeUsers(path: string): string {
  const { ino } = statSync(`${path}-users`);
  const locks = attempt(() => readFileSync("/proc/locks", "utf8")) ?? "";
  // The pattern matches no lines of waiting processes, because these contain an arrow.
  const ofFile = locks.matchAll(new RegExp(`^\\d+: \\w+ +\\w+ +\\w+ (\\d+) [\\da-f:]+:${ino} `, "gm"));
  const pids = new Set([...ofFile].map(([, pid = ""]) => pid));
  pids.delete(String(process.pid));
  return [...pids].map((pid) => `${nameCommand(pid)}, pid ${pid}`).join("; ") || "another command";
}

function nameCommand(pid: string): string {
  const line = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
  const words = line.split("\0").slice(ownCommand.length, ownCommand.length + 2);
  return words.filter((word) => /^[a-z][a-z-]*$/.test(word)).join(" ") || "another command";
}
