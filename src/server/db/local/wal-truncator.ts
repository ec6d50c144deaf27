import { unavailable } from "../../errors.ts";
import { Connection } from "./connection.ts";
import { FileLock } from "./file-lock.ts";
import type { Libsql } from "./load-libsql.ts";
import type { LockFairness } from "./lock-fairness.ts";
import type { Reader } from "./reader.ts";
import { readToEnd } from "./sync-file.ts";

/**
 * How long a checkpoint waits for the write lock. Without waiting, SQLite would checkpoint while others write. Two
 * seconds are enough, because the lock was free just before. A wait for this lock or for a reader blocks this process.
 */
const timeoutMs = 2000;
/** Reads the WAL of a server before the WAL is emptied. All calls are synchronous. */
export interface WalObserver {
  /** From this size on, the WAL is emptied even if the observer wants to wait. */
  readonly maxWalBytes: number;
  /** Whether the WAL may be emptied now. @param isUrgent whether the WAL has reached its limit. */
  mayEmpty(walBytes: number, isUrgent: boolean): boolean;
  /** Reads the rest of the WAL. No commit can happen during the call. */
  capture(walBytes: number): void;
  /** Called when the WAL was emptied. @param isWhole whether no commit happened since `capture`. */
  emptied(isWhole: boolean): void;
}

interface Parts {
  libsql: Libsql;
  path: string;
  walBytes: () => number;
  writer: Connection;
  reader: Reader;
  fairness: LockFairness;
  isInPlace: () => boolean;
  isOverDisk: () => boolean;
}

export class WalTruncator {
  readonly #parts: Parts;
  #connection: Connection | undefined;
  /** Processes with long snapshots, such as backups, share this lock. A checkpoint holds it exclusively. */
  #readersLock: FileLock | undefined;
  observer: WalObserver | undefined;
  isWalReadable = true;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Opens connection and lock, once. Errors: unavailable when the database cannot be opened. */
  open() {
    const { libsql, path, isInPlace } = this.#parts;
    this.#connection ??= new Connection(libsql, path, { busyTimeoutMs: timeoutMs, isInPlace });
    this.#readersLock ??= new FileLock(libsql, `${path}-readers`);
    return { connection: this.#connection, readersLock: this.#readersLock };
  }

  /**
   * Lets the observer read the rest of the WAL, ends the writer's transaction, which holds the write lock, and empties
   * the WAL. The call is synchronous, so that no write of this process starts meanwhile. Other processes are kept from
   * writing: one that writes without a pause would always get the lock first.
   * @returns false if the observer wants to wait, or a long read is running, which would block this process.
   */
  empty(): boolean {
    const { writer, fairness, walBytes } = this.#parts;
    const { observer } = this;
    const { connection, readersLock } = this.open();
    const dataVersion = () => connection.run("PRAGMA data_version").rows[0]?.[0];
    fairness.holdOthers();
    try {
      if (!this.mayEmpty()) return false;
      const version = dataVersion();
      observer?.capture(walBytes());
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
    const size = this.#parts.walBytes();
    return this.observer.mayEmpty(size, size >= this.observer.maxWalBytes || this.#parts.isOverDisk());
  }

  close(): void {
    this.#connection?.close();
    this.#readersLock?.close();
  }

  #truncate(connection: Connection, readersLock: FileLock): boolean {
    if (!readersLock.tryExclusive()) return false;
    try {
      // The checkpoint would wait for the snapshot of this process's own reader, so the snapshot ends here.
      this.#parts.reader.dropSnapshot();
      this.#requireReadable();
      return connection.run("PRAGMA wal_checkpoint(TRUNCATE)").rows[0]?.[0] === 0;
    } finally {
      readersLock.release();
    }
  }

  /** Throws if the disk cannot read the WAL. The engine would ignore this, and write wrong pages to the file. */
  #requireReadable(): void {
    try {
      readToEnd(`${this.#parts.path}-wal`);
      this.isWalReadable = true;
    } catch (cause) {
      this.isWalReadable = false;
      throw unavailable("The disk cannot read the WAL.", { cause, isInternal: true });
    }
  }
}
