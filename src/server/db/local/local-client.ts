import { existsSync, renameSync, rmSync } from "node:fs";
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
import { argsOf, sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import { Connection } from "./connection.ts";
import { FileLock } from "./file-lock.ts";
import { watchFile } from "./file-watch.ts";
import type { Libsql } from "./load-libsql.ts";
import { LocalReader } from "./local-reader.ts";
import { LocalTransaction, LocalUnit } from "./local-transaction.ts";
import { LockTurns } from "./lock-fairness.ts";
import { truncateLog } from "./truncate-wal.ts";
import { WriterQueue, type WriterQueueOptions } from "./writer-queue.ts";

type Statement = InStatement | [string, InArgs?];

/**
 * Only while the write lock is being taken does giving up mean a checkpoint beside the writers, and then the lock has
 * just been proved free. Waiting for readers keeps the lock, so this also bounds what a stranger's reader can cost.
 */
const checkpointTimeoutMs = 2000;
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
  readonly reader: LocalReader;
  readonly #turns: LockTurns;
  readonly #libsql: Libsql;
  readonly #isFileInPlace: () => boolean;
  readonly #isLogInPlace: () => boolean;
  #readersLock: FileLock | undefined;
  #checkpointer: Connection | undefined;
  closed = false;

  /** Opens the file, creating it where needed. Errors: unavailable when it cannot be opened. */
  constructor(libsql: Libsql, path: string, options: Partial<WriterQueueOptions> = {}) {
    this.path = path;
    this.#libsql = libsql;
    this.writer = new Connection(libsql, path, { cacheKiB: writerCacheKiB });
    this.reader = new LocalReader(libsql, path, {
      deadlineMs: options.lockDeadlineMs ?? 5000,
      readersLock: () => this.readersLock,
    });
    this.#isFileInPlace = watchFile(path);
    this.#isLogInPlace = watchFile(`${path}-wal`);
    this.#turns = new LockTurns(`${path}-turns`);
    this.queue = new WriterQueue(this.writer, this.#turns, { ...options, onCommit: this.reader.dropSnapshot });
  }

  execute(stmt: InStatement): Promise<ResultSet>;
  execute(sql: string, args?: InArgs): Promise<ResultSet>;
  async execute(stmt: InStatement, args?: InArgs): Promise<ResultSet> {
    this.#assertOpen();
    const sql = sqlOf(stmt);
    const values = args ?? argsOf(stmt);
    if (shapeOf(sql).reads) return this.reader.run(sql, values);
    this.#assertOrdinary(sql);
    return this.queue.enqueue(() => this.writer.run(sql, values));
  }

  /** The first row of a statement; the reader stops there. */
  first(stmt: InStatement): Promise<Row | undefined> {
    const sql = sqlOf(stmt);
    if (!this.closed && shapeOf(sql).reads) return this.reader.first(sql, argsOf(stmt));
    return this.execute(stmt).then(({ rows }) => rows[0]);
  }

  async batch(stmts: Statement[], mode: TransactionMode = "deferred"): Promise<ResultSet[]> {
    this.#assertOpen();
    if (mode === "read") return this.reader.batch(stmts);
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
    if (mode === "read") return this.reader.begin();
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

  /** Shared by whoever keeps a snapshot of the file for long, in any process; see `truncateLog`. */
  get readersLock(): FileLock {
    this.#readersLock ??= new FileLock(this.#libsql, `${this.path}-readers`);
    return this.#readersLock;
  }

  /** Empties the write-ahead log; false when a reader or another process stands in the way. */
  async checkpoint(): Promise<boolean> {
    if (this.closed || this.reader.transactions.open > 0) return false;
    // The log of a file that was taken away holds writes that nothing else has, and opening its path would make a new one.
    if (!this.isInPlace()) return false;
    this.#checkpointer ??= new Connection(this.#libsql, this.path, { busyTimeoutMs: checkpointTimeoutMs });
    const { queue, writer, reader, readersLock } = this;
    return truncateLog({ queue, writer, reader, readersLock, checkpointer: this.#checkpointer });
  }

  /** Whether the paths of database and log still name the files that are open here. */
  isInPlace(): boolean {
    return this.#isFileInPlace() && this.#isLogInPlace();
  }

  /**
   * Renames the log of a database file that was taken away: beside another file of that name, SQLite would write it
   * into that. Answers the log's new path, undefined when there is nothing to set aside.
   */
  setLogAside(): string | undefined {
    if (this.#isFileInPlace() || !this.#isLogInPlace() || !existsSync(`${this.path}-wal`)) return undefined;
    const aside = `${this.path}-wal.orphaned-${Date.now()}`;
    renameSync(`${this.path}-wal`, aside);
    rmSync(`${this.path}-shm`, { force: true });
    return aside;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#readersLock?.close();
    this.#checkpointer?.close();
    this.reader.close();
    this.writer.close();
    this.#turns.close();
  }

  /** A closed local client stays closed: whoever needs the file again opens it again. */
  reconnect(): void {
    if (this.closed) throw new LibsqlError("The client is closed.", "CLIENT_CLOSED");
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
