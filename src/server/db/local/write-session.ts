import type { InStatement, Row } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { argsOf, sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Result, Session } from "../session.ts";
import type { Connection } from "./connection.ts";
import type { WriteScope } from "./group-commit.ts";

const controlVerbs = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK"]);

/** The session that a transaction's work gets. Errors of every call: unavailable once the transaction has ended. */
export class WriteSession implements Session {
  readonly #connection: Connection;
  readonly #scope: WriteScope;

  constructor(connection: Connection, scope: WriteScope) {
    this.#connection = connection;
    this.#scope = scope;
  }

  async execute(stmt: InStatement): Promise<Result> {
    return this.#run(stmt);
  }

  async batch(stmts: InStatement[]): Promise<Result[]> {
    return stmts.map((stmt) => this.#run(stmt));
  }

  async first(stmt: InStatement): Promise<Row | undefined> {
    return this.#run(stmt).rows[0];
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }

  #run(stmt: InStatement): Result {
    if (this.#scope.hasEnded) throw unavailable("The transaction has already ended.");
    const sql = sqlOf(stmt);
    if (controlVerbs.has(shapeOf(sql).verb) && !/^\s*ROLLBACK\s+(?:TRANSACTION\s+)?TO\b/i.test(sql)) {
      throw new TypeError("A transaction ends when its function does, not by a statement.");
    }
    return this.#connection.run(sql, argsOf(stmt));
  }
}
