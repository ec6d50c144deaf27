import { type InArgs, type InStatement, LibsqlError, type ResultSet, type Transaction } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { argsOf, sqlOf } from "../bind-args.ts";
import { mapDbError } from "../db-errors.ts";
import type { Connection } from "./connection.ts";
import type { FileLock } from "./file-lock.ts";

const keptConnections = 2;

/** Read-only connections for transactions that keep one snapshot over several ticks; most programs never need one. */
export class ReadPool {
  readonly #connect: () => Connection;
  readonly #readersLock: () => FileLock;
  #free: Connection[] = [];
  #open = 0;
  #closed = false;

  /** While one of them is open, `readersLock` is shared, so that no checkpoint waits for it. */
  constructor(connect: () => Connection, readersLock: () => FileLock) {
    this.#connect = connect;
    this.#readersLock = readersLock;
  }

  /** Transactions that are open now. */
  get open(): number {
    return this.#open;
  }

  /** Begins a transaction that sees the state of this moment until it is closed. */
  begin(): Transaction {
    if (this.#open === 0 && this.#readersLock().tryShared() === false) {
      throw mapDbError(new LibsqlError("A checkpoint is under way.", "SQLITE_BUSY"));
    }
    const connection = this.#free.pop() ?? this.#connect();
    this.#open++;
    try {
      connection.run("BEGIN");
      // SQLite takes the snapshot at the first read, not at BEGIN.
      connection.run("SELECT 1 FROM sqlite_schema LIMIT 1");
    } catch (error) {
      if (connection.inTransaction) connection.run("ROLLBACK");
      this.#giveBack(connection);
      throw error;
    }
    return new ReadTransaction(connection, () => this.#giveBack(connection));
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#free.splice(0)) connection.close();
  }

  #giveBack(connection: Connection): void {
    this.#open--;
    if (this.#open === 0) this.#readersLock().release();
    if (this.#closed || this.#free.length >= keptConnections) connection.close();
    else this.#free.push(connection);
  }
}

class ReadTransaction implements Transaction {
  readonly #connection: Connection;
  readonly #giveBack: () => void;
  closed = false;

  constructor(connection: Connection, giveBack: () => void) {
    this.#connection = connection;
    this.#giveBack = giveBack;
  }

  async execute(stmt: InStatement | string, args?: InArgs): Promise<ResultSet> {
    this.#assertOpen();
    return this.#connection.run(sqlOf(stmt), args ?? argsOf(stmt));
  }

  async batch(stmts: (InStatement | [string, InArgs?])[]): Promise<ResultSet[]> {
    this.#assertOpen();
    return stmts.map((stmt) => this.#connection.run(sqlOf(stmt), argsOf(stmt)));
  }

  async executeMultiple(sql: string): Promise<void> {
    this.#assertOpen();
    this.#connection.script(sql);
  }

  async commit(): Promise<void> {
    this.#assertOpen();
    this.close();
  }

  async rollback(): Promise<void> {
    this.close();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.#connection.inTransaction) this.#connection.run("ROLLBACK");
    this.#giveBack();
  }

  #assertOpen(): void {
    if (this.closed) throw unavailable("The transaction has already ended.");
  }
}
