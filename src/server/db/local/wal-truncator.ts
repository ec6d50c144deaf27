import { statSync } from "node:fs";
import { unavailable } from "../../errors.ts";
import { Connection } from "./connection.ts";
import { FileLock } from "./file-lock.ts";
import type { Libsql } from "./load-libsql.ts";
import type { LockFairness } from "./lock-fairness.ts";
import type { Reader } from "./reader.ts";
import { readToEnd } from "./sync-file.ts";

/**
 * A checkpoint that gives up waiting for the write lock would run while others write; the lock has just been seen free.
 * The process also blocks for this long when another program reads.
 */
const timeoutMs = 2000;
/** Reads the WAL of a server before it is emptied. All calls are synchronous. */
export interface WalObserver {
  /** From this size on the WAL is emptied even if the observer asks to wait. */
  readonly maxWalBytes: number;
  /** Whether the WAL may be emptied now. @param isUrgent it has reached its limit. */
  mayEmpty(walBytes: number, isUrgent: boolean): boolean;
  /** Reads the rest of the WAL. No commit can happen until it returns. */
  capture(walBytes: number): void;
  /** The WAL was emptied. @param isWhole whether no commit happened between `capture` and this. */
  emptied(isWhole: boolean): void;
}

interface Parts {
  writer: Connection;
  reader: Reader;
  fairness: LockFairness;
  isInPlace: () => boolean;
  /** Whether the WAL holds more than its disk has room for. */
  isOverDisk: () => boolean;
}

export class WalTruncator {
  readonly #libsql: Libsql;
  readonly #path: string;
  readonly #parts: Parts;
  #connection: Connection | undefined;
  /** Processes that keep a snapshot of the file for long, such as a backup, share this lock; a checkpoint holds it exclusively. */
  #readersLock: FileLock | undefined;
  observer: WalObserver | undefined;
  isWalReadable = true;

  constructor(libsql: Libsql, path: string, parts: Parts) {
    this.#libsql = libsql;
    this.#path = path;
    this.#parts = parts;
  }

  /** Opens what it needs, once. Errors: unavailable when the database cannot be opened. */
  open() {
    const { isInPlace } = this.#parts;
    this.#connection ??= new Connection(this.#libsql, this.#path, { busyTimeoutMs: timeoutMs, isInPlace });
    this.#readersLock ??= new FileLock(this.#libsql, `${this.#path}-readers`);
    return { connection: this.#connection, readersLock: this.#readersLock };
  }

  /**
   * Ends the writer's transaction, which has the write lock, and empties the WAL. The observer reads the rest of it first,
   * and other processes are kept from writing: one that writes without a pause would always have the lock. Synchronous, so
   * that no write begins in between: the connection's long busy timeout then keeps SQLite from falling back to a checkpoint
   * during writes. That timeout would also block the process behind a long reader, so no checkpoint begins while there is one.
   * @returns false when a reader is in the way, or the observer asks to wait.
   */
  empty(): boolean {
    const { writer, fairness } = this.#parts;
    const { observer } = this;
    const { connection, readersLock } = this.open();
    const dataVersion = () => connection.run("PRAGMA data_version").rows[0]?.[0];
    fairness.holdOthers();
    try {
      if (!this.mayEmpty()) return false;
      const version = dataVersion();
      observer?.capture(this.#size());
      writer.run("ROLLBACK");
      const isEmptied = this.#truncate(connection, readersLock);
      if (isEmptied) observer?.emptied(dataVersion() === version);
      return isEmptied;
    } finally {
      fairness.releaseOthers();
      if (writer.inTransaction) writer.run("ROLLBACK");
    }
  }

  mayEmpty(): boolean {
    if (this.observer === undefined) return true;
    const size = this.#size();
    return this.observer.mayEmpty(size, size >= this.observer.maxWalBytes || this.#parts.isOverDisk());
  }

  close(): void {
    this.#connection?.close();
    this.#readersLock?.close();
  }

  #size(): number {
    return statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  #truncate(connection: Connection, readersLock: FileLock): boolean {
    if (!readersLock.tryExclusive()) return false;
    try {
      // It would wait for a snapshot of this process in vain.
      this.#parts.reader.dropSnapshot();
      this.#requireReadable();
      return connection.run("PRAGMA wal_checkpoint(TRUNCATE)").rows[0]?.[0] === 0;
    } finally {
      readersLock.release();
    }
  }

  /** The engine ignores a failed read of the WAL, and would overwrite pages of the file with whatever its buffer holds. */
  #requireReadable(): void {
    try {
      readToEnd(`${this.#path}-wal`);
      this.isWalReadable = true;
    } catch (cause) {
      this.isWalReadable = false;
      throw unavailable("The disk cannot read the WAL.", { cause, isInternal: true });
    }
  }
}
