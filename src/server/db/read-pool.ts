import type { InArgs, InStatement, ResultSet, Transaction } from "@libsql/core/api";
import { AppError } from "../errors.ts";
import { argsOf, sqlOf } from "./bind-args.ts";
import type { Connection } from "./connection.ts";

const keptConnections = 2;

/** Read-only connections for transactions that keep one snapshot over several ticks; most programs never need one. */
export class ReadPool {
  readonly #connect: () => Connection;
  #free: Connection[] = [];
  #open = 0;
  #closed = false;

  constructor(connect: () => Connection) {
    this.#connect = connect;
  }

  /** Transactions that are open now. */
  get open(): number {
    return this.#open;
  }

  /** Begins a transaction that sees the state of this moment until it is closed. */
  begin(): Transaction {
    const connection = this.#free.pop() ?? this.#connect();
    connection.run("BEGIN");
    // SQLite takes the snapshot at the first read, not at BEGIN.
    connection.run("SELECT 1 FROM sqlite_schema LIMIT 1");
    this.#open++;
    return new ReadTransaction(connection, () => this.#giveBack(connection));
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#free.splice(0)) connection.close();
  }

  #giveBack(connection: Connection): void {
    this.#open--;
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
    if (this.closed) throw new AppError(5001, "The transaction has already ended.");
  }
}
