import { chmodSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { chownLike, databaseFile, makeDataDir } from "../../config/data-dir.ts";
import { isBusy, mapDbError } from "../db-errors.ts";
import { type Engine, type Libsql, loadLibsql } from "./load-libsql.ts";

// All open locks are here, because garbage collection would release a lock without references.
const openLocks = new Set<FileLock>();

/**
 * A lock between processes, released when its holder ends for any reason. It is SQLite's lock on an empty file. Nothing
 * else may open that file, because closing any descriptor of it would release the lock.
 */
export class FileLock {
  readonly #engine: Engine;
  #open = true;

  /** Opens the lock's file, creating it with mode 0600. Errors: unavailable when that is impossible. */
  constructor(libsql: Libsql, path: string) {
    const isNew = !existsSync(path);
    try {
      this.#engine = new libsql(path, { timeout: 0 });
    } catch (error) {
      throw mapDbError(error);
    }
    openLocks.add(this);
    if (isNew) this.#create(path);
  }

  /** Takes the exclusive lock. Returns false if another process holds it, exclusively or shared. */
  tryExclusive(): boolean {
    // The journal is in memory, because a journal on disk would need space, which a full disk does not have.
    return this.#try("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  }

  /** Takes the shared lock. Returns false if another process holds it exclusively. */
  tryShared(): boolean {
    return this.#try("BEGIN; SELECT 1 FROM sqlite_schema");
  }

  release(): void {
    // If the engine is closed, reading `inTransaction` would end the process.
    if (this.#open && this.#engine.inTransaction) this.#engine.exec("ROLLBACK");
  }

  close(): void {
    if (!this.#open) return;
    this.release();
    this.#open = false;
    openLocks.delete(this);
    this.#engine.close();
  }

  /** Creates the lock's file by reading from it, because SQLite does not create a file before its first read. */
  #create(path: string): void {
    try {
      this.#engine.prepare("PRAGMA journal_mode").get([]);
      chmodSync(path, 0o600);
      chownLike(path, dirname(path));
    } catch (error) {
      // A busy error is ignored: another process is creating the file at this moment and holds its lock.
      if (!isBusy(error)) throw mapDbError(error);
    }
  }

  #try(sql: string): boolean {
    try {
      this.#engine.exec(sql);
      return true;
    } catch (error) {
      this.release();
      if (isBusy(error)) return false;
      throw mapDbError(error);
    }
  }
}

/** Waits for the exclusive lock, and returns it. Returns null if another process holds it longer than the timeout. */
export async function lockFile(path: string, timeoutMs: number): Promise<FileLock | null> {
  const lock = new FileLock(await loadLibsql(), path);
  const deadline = performance.now() + timeoutMs;
  while (!lock.tryExclusive()) {
    if (performance.now() > deadline) {
      lock.close();
      return null;
    }
    await Bun.sleep(20);
  }
  return lock;
}

// A command that checks for a server holds the lock for a moment, which must not prevent a start.
const serverTimeoutMs = 250;

/** Locks the data directory until the lock is closed or the process ends. Returns null if another server uses it. */
export async function acquireServerLock(dataDir: string, waitMs = serverTimeoutMs): Promise<FileLock | null> {
  makeDataDir(dataDir);
  return lockFile(lockPath(dataDir), waitMs);
}

/** Whether a server uses this data directory now, in this process or another. */
export async function isServerRunning(dataDir: string): Promise<boolean> {
  const path = lockPath(dataDir);
  if (!existsSync(path)) return false;
  const lock = new FileLock(await loadLibsql(), path);
  try {
    return !lock.tryExclusive();
  } finally {
    lock.close();
  }
}

function lockPath(dataDir: string): string {
  return join(dirname(databaseFile(dataDir)), "server.lock");
}
