import { chmodSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { chownLike, databaseFile, makeDataDir } from "../../config/data-dir.ts";
import { isBusy, mapDbError } from "../db-errors.ts";
import { type Engine, type Libsql, loadLibsql } from "./load-libsql.ts";

// The garbage collector closes, and so releases, a lock without references.
const openLocks = new Set<FileLock>();

/**
 * A lock between processes that is released when its holder ends for any reason: SQLite's own lock on an empty file.
 * Nothing else may open that file, because closing any descriptor of it would drop the lock.
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

  /** Takes the exclusive lock; false when another holder has it in either form. */
  tryExclusive(): boolean {
    // A journal on disk would need room that a full disk does not have.
    return this.#try("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  }

  /** Takes the lock together with other sharers; false when one holder has it exclusively. */
  tryShared(): boolean {
    return this.#try("BEGIN; SELECT 1 FROM sqlite_schema");
  }

  release(): void {
    // A closed engine ends the process when it is asked.
    if (this.#open && this.#engine.inTransaction) this.#engine.exec("ROLLBACK");
  }

  close(): void {
    if (!this.#open) return;
    this.release();
    this.#open = false;
    openLocks.delete(this);
    this.#engine.close();
  }

  /** SQLite creates the file at the first read. */
  #create(path: string): void {
    try {
      this.#engine.prepare("PRAGMA journal_mode").get([]);
      chmodSync(path, 0o600);
      chownLike(path, dirname(path));
    } catch (error) {
      // Another process created the file at the same moment and holds its lock.
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

/** The exclusive lock of a file, once it is free; null when another holder keeps it for this long. */
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

// A command that asks holds the lock for a moment, and must not keep a server from starting.
const serverTimeoutMs = 250;

/** Locks the data directory for this server until the lock is released or the process ends; null while another has it. */
export async function acquireServerLock(dataDir: string): Promise<Pick<FileLock, "close"> | null> {
  makeDataDir(dataDir);
  return lockFile(lockPath(dataDir), serverTimeoutMs);
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
