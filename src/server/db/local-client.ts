import {
  type Client,
  type InArgs,
  type InStatement,
  LibsqlError,
  type Replicated,
  type ResultSet,
  type Row,
  type Transaction,
  type TransactionMode,
} from "@libsql/core/api";
import { argsOf, sqlOf } from "./bind-args.ts";
import { Connection } from "./connection.ts";
import { isBusy } from "./db-errors.ts";
import type { Libsql } from "./load-libsql.ts";
import { LocalTransaction, LocalUnit } from "./local-transaction.ts";
import { LockTurns } from "./lock-turns.ts";
import { ReadPool } from "./read-pool.ts";
import { shapeOf } from "./scan-sql.ts";
import { WriterQueue, type WriterQueueOptions } from "./writer-queue.ts";

type Statement = InStatement | [string, InArgs?];

const readerCacheKiB = 16 * 1024;
const writerCacheKiB = 8 * 1024;
const refusedVerbs = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"]);
const ownPragmas = /\b(?:wal_checkpoint|wal_autocheckpoint|journal_mode|synchronous|query_only|busy_timeout)\b/i;

/**
 * The `Client` of `@libsql/core` over a local file. Statements that only read run at once on the reader connection;
 * everything else is a unit of the writer queue and is answered after its COMMIT.
 */
export class LocalClient implements Client {
  readonly protocol = "file";
  readonly path: string;
  readonly queue: WriterQueue;
  readonly writer: Connection;
  readonly reader: Connection;
  readonly readTransactions: ReadPool;
  readonly #turns: LockTurns;
  readonly #deadlineMs: number;
  closed = false;

  /** Opens the file, creating it where needed. Errors: 5001 when it cannot be opened. */
  constructor(libsql: Libsql, path: string, options: Partial<WriterQueueOptions> = {}) {
    this.path = path;
    this.#deadlineMs = options.lockDeadlineMs ?? 5000;
    this.writer = new Connection(libsql, path, { cacheKiB: writerCacheKiB });
    this.reader = new Connection(libsql, path, { cacheKiB: readerCacheKiB, readOnly: true });
    this.readTransactions = new ReadPool(() => new Connection(libsql, path, { readOnly: true }));
    this.#turns = new LockTurns(`${path}-turns`);
    this.queue = new WriterQueue(this.writer, this.#turns, options);
  }

  execute(stmt: InStatement): Promise<ResultSet>;
  execute(sql: string, args?: InArgs): Promise<ResultSet>;
  async execute(stmt: InStatement, args?: InArgs): Promise<ResultSet> {
    this.#assertOpen();
    const sql = sqlOf(stmt);
    const values = args ?? argsOf(stmt);
    if (shapeOf(sql).reads) return this.#read(() => this.reader.run(sql, values));
    this.#assertOrdinary(sql);
    return this.queue.enqueue(() => this.writer.run(sql, values));
  }

  /** The first row of a statement; the reader stops there. */
  async first(stmt: InStatement): Promise<Row | undefined> {
    this.#assertOpen();
    const sql = sqlOf(stmt);
    if (!shapeOf(sql).reads) return (await this.execute(stmt)).rows[0];
    return this.#read(() => this.reader.first(sql, argsOf(stmt)));
  }

  async batch(stmts: Statement[], mode: TransactionMode = "deferred"): Promise<ResultSet[]> {
    this.#assertOpen();
    if (mode === "read") return this.#read(() => this.#readTogether(stmts));
    for (const stmt of stmts) this.#assertOrdinary(sqlOf(stmt));
    return this.queue.enqueue(() => stmts.map((stmt) => this.writer.run(sqlOf(stmt), argsOf(stmt))));
  }

  /** Runs statements with foreign keys off, as table rebuilds need it. */
  async migrate(stmts: InStatement[]): Promise<ResultSet[]> {
    this.#assertOpen();
    return this.withoutForeignKeys((unit) => unit.batch(stmts));
  }

  async transaction(mode: TransactionMode = "write"): Promise<Transaction> {
    this.#assertOpen();
    if (mode === "read") return this.#read(() => this.readTransactions.begin());
    return new Promise((resolve, reject) => {
      const answered: Promise<void> = this.queue.enqueue(
        (life) =>
          new Promise<void>((commit, rollback) => {
            // `answered` is assigned by now: the queue never runs a unit within the call that queues it.
            resolve(new LocalTransaction(new LocalUnit(this.writer, life), { commit, rollback }, answered));
          }),
      );
      answered.catch(reject);
    });
  }

  /** Runs a script as one transaction; unlike statements of their own, none of it stays when one fails. */
  async executeMultiple(sql: string): Promise<void> {
    this.#assertOpen();
    if (ownPragmas.test(sql)) throw refusal();
    return this.queue.enqueue(() => this.writer.script(sql));
  }

  async sync(): Promise<Replicated> {
    throw new LibsqlError("A local database has nothing to synchronise with.", "SYNC_NOT_SUPPORTED");
  }

  /** Runs `work` in one transaction with foreign keys unchecked until it ends, alone on the writer. */
  withoutForeignKeys<T>(work: (unit: LocalUnit) => Promise<T>): Promise<T> {
    return this.queue.exclusive(async () => {
      this.writer.script("PRAGMA foreign_keys = OFF");
      const life = { ended: false };
      try {
        if (!(await this.queue.beginAlone())) throw new LibsqlError("The database is locked.", "SQLITE_BUSY");
        const result = await work(new LocalUnit(this.writer, life));
        this.writer.run("COMMIT");
        return result;
      } finally {
        life.ended = true;
        if (this.writer.inTransaction) this.writer.run("ROLLBACK");
        this.writer.script("PRAGMA foreign_keys = ON");
      }
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.readTransactions.close();
    this.reader.close();
    this.writer.close();
    this.#turns.close();
  }

  /** A closed local client stays closed: whoever needs the file again opens it again. */
  reconnect(): void {
    if (this.closed) throw new LibsqlError("The client is closed.", "CLIENT_CLOSED");
  }

  #readTogether(stmts: Statement[]): ResultSet[] {
    this.reader.run("BEGIN");
    try {
      return stmts.map((stmt) => this.reader.run(sqlOf(stmt), argsOf(stmt)));
    } finally {
      this.reader.run("ROLLBACK");
    }
  }

  // A reader meets a lock only while another process recovers the log, which is over in a moment.
  async #read<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#deadlineMs;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
      }
      await Bun.sleep(1 + Math.random() * 4);
      this.#assertOpen();
    }
  }

  #assertOrdinary(sql: string): void {
    const { verb } = shapeOf(sql);
    if (refusedVerbs.has(verb) || (verb === "PRAGMA" && ownPragmas.test(sql))) throw refusal();
  }

  #assertOpen(): void {
    if (this.closed) throw new LibsqlError("The client is closed.", "CLIENT_CLOSED");
  }
}

function refusal(): TypeError {
  return new TypeError("Transactions, and the pragmas that durability rests on, are the data layer's own.");
}
