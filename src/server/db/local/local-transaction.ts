import type { InArgs, InStatement, ResultSet, Row, Transaction } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { argsOf, sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Session } from "../session.ts";
import type { Connection } from "./connection.ts";
import type { UnitLife } from "./group-commit.ts";

const control = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK"]);

/** The services' view of one unit of the writer queue; dead once the unit has ended. */
export class LocalUnit implements Session {
  readonly #connection: Connection;
  readonly #life: UnitLife;

  constructor(connection: Connection, life: UnitLife) {
    this.#connection = connection;
    this.#life = life;
  }

  async execute(stmt: InStatement): Promise<ResultSet> {
    return this.runNow(sqlOf(stmt), argsOf(stmt));
  }

  async batch(stmts: (InStatement | [string, InArgs?])[]): Promise<ResultSet[]> {
    return stmts.map((stmt) => this.runNow(sqlOf(stmt), argsOf(stmt)));
  }

  async first(stmt: InStatement): Promise<Row | undefined> {
    return this.runNow(sqlOf(stmt), argsOf(stmt)).rows[0];
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }

  /** Runs one statement at once. Errors: unavailable when the unit has ended. */
  runNow(sql: string, args?: InArgs): ResultSet {
    this.assertAlive();
    const { verb } = shapeOf(sql);
    if (control.has(verb) && !/^\s*ROLLBACK\s+(?:TRANSACTION\s+)?TO\b/i.test(sql)) {
      throw new TypeError("A transaction is ended through its handle, not by a statement.");
    }
    return this.#connection.run(sql, args);
  }

  /** Runs a script; statements that end the transaction are the caller's mistake. */
  runScript(sql: string): void {
    this.assertAlive();
    this.#connection.script(sql);
  }

  assertAlive(): void {
    if (this.#life.ended) throw unavailable("The transaction has already ended.");
  }

  get hasEnded(): boolean {
    return this.#life.ended;
  }
}

const rolledBack = Symbol("rolled back");

/** How an interactive transaction tells its unit to end. */
export interface UnitEnd {
  commit(): void;
  rollback(reason: unknown): void;
}

/** An interactive transaction of `@libsql/core`: one unit of the queue, held open until it is committed or closed. */
export class LocalTransaction implements Transaction {
  readonly #unit: LocalUnit;
  readonly #end: UnitEnd;
  readonly #answered: Promise<void>;
  #ending = false;

  /** `answered` settles once the unit's group is committed, or rejects with what undid it. */
  constructor(unit: LocalUnit, end: UnitEnd, answered: Promise<void>) {
    this.#unit = unit;
    this.#end = end;
    this.#answered = answered.catch((error) => {
      if (error !== rolledBack) throw error;
    });
    this.#answered.catch(() => {});
  }

  get closed(): boolean {
    return this.#ending || this.#unit.hasEnded;
  }

  async execute(stmt: InStatement | string, args?: InArgs): Promise<ResultSet> {
    this.#assertOpen();
    return this.#unit.runNow(sqlOf(stmt), args ?? argsOf(stmt));
  }

  async batch(stmts: (InStatement | [string, InArgs?])[]): Promise<ResultSet[]> {
    this.#assertOpen();
    return this.#unit.batch(stmts);
  }

  async executeMultiple(sql: string): Promise<void> {
    this.#assertOpen();
    this.#unit.runScript(sql);
  }

  async commit(): Promise<void> {
    this.#assertOpen();
    this.#ending = true;
    this.#end.commit();
    await this.#answered;
  }

  async rollback(): Promise<void> {
    if (this.closed) return;
    this.close();
    await this.#answered;
  }

  close(): void {
    if (this.closed) return;
    this.#ending = true;
    this.#end.rollback(rolledBack);
  }

  #assertOpen(): void {
    if (this.#ending) throw unavailable("The transaction has already ended.");
    this.#unit.assertAlive();
  }
}
