import { chmodSync, existsSync } from "node:fs";
import { dirname } from "node:path";
import { giveToOwner } from "../../config/data-dir.ts";
import { isBusy, mapDbError } from "../db-errors.ts";
import { type Engine, type Libsql, loadLibsql } from "./load-libsql.ts";

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
    if (isNew) this.#create(path);
  }

  /** Takes the exclusive lock; false when another holder has it in either form. */
  tryExclusive(): boolean {
    return this.#try("BEGIN EXCLUSIVE");
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
    this.#engine.close();
  }

  /** SQLite creates the file at the first read. */
  #create(path: string): void {
    try {
      this.#engine.prepare("PRAGMA journal_mode").get([]);
      chmodSync(path, 0o600);
      giveToOwner(path, dirname(path));
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
