import type { InArgs, InStatement, ResultSet, Row, Transaction } from "@libsql/core/api";
import { argsOf, sqlOf } from "../bind-args.ts";
import { isBusy } from "../db-errors.ts";
import { Connection } from "./connection.ts";
import type { FileLock } from "./file-lock.ts";
import type { Libsql } from "./load-libsql.ts";
import { ReadPool } from "./read-pool.ts";

const cacheKiB = 16 * 1024;

interface ReaderOptions {
  deadlineMs: number;
  readersLock: () => FileLock;
}

/** Reads a local file: a read-only connection whose calls are answered at once, and a pool for longer snapshots. */
export class LocalReader {
  readonly connection: Connection;
  readonly transactions: ReadPool;
  readonly #deadlineMs: number;
  /** The counter of commits that the snapshot of this turn began with; undefined while there is no snapshot. */
  #version: number | undefined;

  /** `readersLock` is shared while a read transaction is open. */
  constructor(libsql: Libsql, path: string, { deadlineMs, readersLock }: ReaderOptions) {
    this.connection = new Connection(libsql, path, { cacheKiB, readOnly: true });
    this.transactions = new ReadPool(() => new Connection(libsql, path, { readOnly: true }), readersLock);
    this.#deadlineMs = deadlineMs;
  }

  run(sql: string, args?: InArgs): Promise<ResultSet> {
    return this.#read(() => this.connection.run(sql, args));
  }

  first(sql: string, args?: InArgs): Promise<Row | undefined> {
    return this.#read(() => this.connection.first(sql, args));
  }

  /** All statements on one snapshot. */
  batch(stmts: (InStatement | [string, InArgs?])[]): Promise<ResultSet[]> {
    const runAll = () => stmts.map((stmt) => this.connection.run(sqlOf(stmt), argsOf(stmt)));
    return this.#read(() => {
      if (this.#version !== undefined) return runAll();
      this.connection.run("BEGIN");
      try {
        return runAll();
      } finally {
        this.connection.run("ROLLBACK");
      }
    });
  }

  /** A transaction of its own that keeps its snapshot until it is closed. */
  begin(): Promise<Transaction> {
    return this.#read(() => this.transactions.begin());
  }

  /**
   * SQLite's counter of commits by other connections, the writer of this process included. Whoever asks has just taken
   * a request from its socket: until the loop turns, all reads share the snapshot that this begins, and with it one
   * pair of file locks, which cost as much as a short query.
   */
  dataVersion(): number {
    if (this.#version !== undefined) return this.#version;
    this.connection.run("BEGIN");
    try {
      this.#version = this.connection.first("PRAGMA data_version")?.[0] as number;
    } catch (error) {
      this.connection.run("ROLLBACK");
      throw error;
    }
    setImmediate(this.dropSnapshot);
    return this.#version;
  }

  /** Lets the next read see what has been committed since, and checkpoints pass. */
  readonly dropSnapshot = (): void => {
    if (this.#version === undefined) return;
    this.#version = undefined;
    if (this.connection.inTransaction) this.connection.run("ROLLBACK");
  };

  close(): void {
    this.dropSnapshot();
    this.transactions.close();
    this.connection.close();
  }

  // A reader meets a lock only while another process recovers the log, which is over in a moment.
  #read<T>(work: () => T): Promise<T> {
    try {
      return Promise.resolve(work());
    } catch (error) {
      return isBusy(error) ? this.#readLater(work) : Promise.reject(error);
    }
  }

  async #readLater<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#deadlineMs;
    for (;;) {
      await Bun.sleep(1 + Math.random() * 4);
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
      }
    }
  }
}
