import type { InArgs, InStatement, Row } from "@libsql/core/api";
import { LruCache } from "../../values/lru-cache.ts";
import { argsOf, bindArgs, sqlOf } from "../bind-args.ts";
import { isBusy, isDamaged, mapDbError, sqliteCodeOf } from "../db-errors.ts";
import { createRowMaker, type RowMaker } from "../row.ts";
import { controlVerbs, type SqlShape, shapeOf } from "../scan-sql.ts";
import { isFirstRow, type Result } from "../session.ts";
import type { Engine, EngineStatement, Libsql } from "./load-libsql.ts";

const generationSize = 128;
const openingTimeoutMs = 5000;
/** An engine is replaced at most once in this time, because a discarded engine keeps its file descriptors for long. */
const minReopenMs = 1000;
const returningVerbs = new Set(["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]);

interface Kept {
  shape: SqlShape;
  statement: EngineStatement;
  columns: string[];
  makeRow: RowMaker | null;
  /** Prepared again, for `first`: the engine's `get` ignores arguments if another method has run the statement. */
  getter: EngineStatement | undefined;
}

export interface ConnectionOptions {
  readOnly?: boolean;
  /** How long a call may block the process on a lock; 0 if the caller retries. */
  busyTimeoutMs?: number;
  cacheKiB?: number;
  /** Whether to keep the journal mode, as for a database in memory. */
  keepFormat?: boolean;
  /** After a disk fault, the engine is replaced only while this returns true. */
  isInPlace?: () => boolean;
}

/**
 * A synchronous connection to a database file. It keeps prepared statements. Only this code sets the pragmas for
 * durability and turns automatic checkpoints off (see checkpoint.ts).
 */
export class Connection {
  readonly #openEngine: (isFirst: boolean) => Engine;
  readonly #isInPlace: () => boolean;
  readonly #kept = new LruCache<Kept>(generationSize);
  #engine: Engine;
  #open = true;
  /** Undefined after a call that may have begun or ended a transaction. Only the getter asks SQLite, which is slow. */
  #inTransaction: boolean | undefined;
  #hasFault = false;
  #openedAt = Number.NEGATIVE_INFINITY;
  /** How many times the engine was replaced after a disk fault. The counters of each new engine start from zero. */
  reopened = 0;
  /** Whether a second engine also found damage, which means that the file is damaged. */
  isDamaged = false;

  constructor(libsql: Libsql, path: string, options: ConnectionOptions = {}) {
    this.#isInPlace = options.isInPlace ?? (() => false);
    this.#openEngine = (isFirst) => openEngine(libsql, path, options, isFirst);
    this.#engine = this.#openEngine(true);
  }

  /** Runs one statement to its end. Errors are mapped by `mapDbError`. */
  run(sql: string, args?: InArgs): Result {
    const kept = this.#keep(sql);
    const bound = bindArgs(kept.shape.params, args);
    if (controlVerbs.has(kept.shape.verb)) this.#inTransaction = undefined;
    try {
      if (kept.makeRow === null) {
        return { rows: [], rowsAffected: kept.statement.run(bound).changes };
      }
      const raw = kept.statement.all(bound);
      const rows: Row[] = new Array(raw.length);
      for (let i = 0; i < raw.length; i++) rows[i] = this.#makeRow(kept, raw[i] as unknown[]);
      return { rows, rowsAffected: returningVerbs.has(kept.shape.verb) && !kept.shape.reads ? rows.length : 0 };
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  /** Runs one statement to its end. The result of a `FirstRow` has at most one row. */
  execute(stmt: InStatement): Result {
    const sql = sqlOf(stmt);
    if (!isFirstRow(stmt) || !shapeOf(sql).reads) return this.run(sql, argsOf(stmt));
    const row = this.first(sql, stmt.args);
    return { rows: row ? [row] : [], rowsAffected: 0 };
  }

  /** Returns the first row of a reading statement. This is faster than `run`, because the engine builds no list. */
  first(sql: string, args?: InArgs): Row | undefined {
    const kept = this.#keep(sql);
    if (kept.makeRow === null) return this.run(sql, args).rows[0];
    const bound = bindArgs(kept.shape.params, args);
    try {
      kept.getter ??= readExactly(this.#engine.prepare(sql));
      const raw = kept.getter.get(bound);
      return raw === undefined ? undefined : this.#makeRow(kept, raw);
    } catch (error) {
      // If this statement were kept after an error, its next `get` would run with the arguments of this call.
      kept.getter = undefined;
      throw this.#mapError(error);
    }
  }

  /** Returns the rows of a statement as lists, for copies. All integers are bigint. Errors: as `run`. */
  values(sql: string, args?: InArgs): (null | string | number | bigint | Uint8Array)[][] {
    const kept = this.#keep(sql);
    try {
      return kept.statement.all(bindArgs(kept.shape.params, args)) as ReturnType<Connection["values"]>;
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  script(sql: string): void {
    this.#prepareEngine();
    this.#inTransaction = undefined;
    try {
      this.#engine.exec(sql);
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  /** True between BEGIN and COMMIT. SQLite itself may end a transaction when a statement fails. */
  get inTransaction(): boolean {
    this.#inTransaction ??= this.#open && this.#engine.inTransaction;
    return this.#inTransaction;
  }

  close(): void {
    if (!this.#open) return;
    if (this.#engine.inTransaction) this.script("ROLLBACK");
    this.#open = false;
    this.#inTransaction = false;
    this.#kept.clear();
    this.#engine.close();
  }

  #makeRow(kept: Kept, values: unknown[]): Row {
    // Another process may have altered the table, so a kept `SELECT *` may return other columns than before.
    if (values.length !== kept.columns.length) describe(kept);
    return (kept.makeRow as RowMaker)(values);
  }

  /** Maps an error. After a disk fault, the engine will be replaced, because it caches the failed read. */
  #mapError(error: unknown): unknown {
    this.#inTransaction = undefined;
    if (isDamaged(error)) {
      this.#hasFault ||= performance.now() - this.#openedAt > minReopenMs;
      this.isDamaged ||= this.reopened > 0 && sqliteCodeOf(error) === "SQLITE_CORRUPT";
    }
    return mapDbError(error);
  }

  /** Replaces the engine after a fault, once no transaction is open. */
  #prepareEngine(): void {
    // Some calls of a closed engine end the process instead of failing, so they are refused here.
    if (!this.#open) throw new Error("The database is closed.");
    if (!this.#hasFault || this.#engine.inTransaction || !this.#isInPlace()) return;
    // The new engine is opened first, because closing the last connection would empty the WAL.
    const engine = this.#openEngine(false);
    this.#kept.clear();
    this.#engine.close();
    this.#engine = engine;
    this.#openedAt = performance.now();
    this.#hasFault = false;
    this.reopened++;
  }

  #keep(sql: string): Kept {
    this.#prepareEngine();
    return this.#kept.getOrMake(sql, () => this.#prepare(sql));
  }

  #prepare(sql: string): Kept {
    const shape = shapeOf(sql);
    if (shape.verb === "") throw new TypeError("The statement is empty.");
    if (shape.several) throw new TypeError("Only one statement can run at a time.");
    try {
      const statement = this.#engine.prepare(sql);
      const kept: Kept = { shape, statement, columns: [], makeRow: null, getter: undefined };
      if (statement.reader) {
        readExactly(statement);
        describe(kept);
      }
      return kept;
    } catch (error) {
      throw this.#mapError(error);
    }
  }
}

function openEngine(libsql: Libsql, path: string, options: ConnectionOptions, isFirst: boolean): Engine {
  let engine: Engine | undefined;
  try {
    engine = new libsql(path, { timeout: 0 });
    engine.exec(`PRAGMA busy_timeout = ${openingTimeoutMs}`);
    if (!options.keepFormat) enableWal(engine);
    engine.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA secure_delete = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${options.cacheKiB ?? 4096};
      PRAGMA query_only = ${options.readOnly ? "ON" : "OFF"}; PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 0}`);
    if (!isFirst) engine.exec("SELECT count(*) FROM sqlite_schema");
    return engine;
  } catch (error) {
    // The first engine stays open: closing the last connection would make SQLite remove the WAL of a damaged file.
    if (!isFirst) engine?.close();
    throw mapDbError(error);
  }
}

/** Turns WAL on. Retries, because SQLite ignores its busy timeout here while another process creates the file. */
function enableWal(engine: Engine): void {
  const deadline = performance.now() + openingTimeoutMs;
  for (;;) {
    try {
      engine.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    Bun.sleepSync(1 + Math.random() * 4);
  }
}

/** Makes a statement return rows as arrays and integers as bigint, so that no integer is rounded. */
function readExactly(statement: EngineStatement): EngineStatement {
  statement.raw(true);
  statement.safeIntegers(true);
  return statement;
}

function describe(kept: Kept): void {
  kept.columns = kept.statement.columns().map((column) => column.name);
  kept.makeRow = createRowMaker(kept.columns);
}
