import type { InStatement, Row } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { shapeOf } from "../scan-sql.ts";
import type { FirstRow, Result, Session } from "../session.ts";
import type { Writer } from "./writer.ts";

const controlVerbs = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK"]);

/** The session of a transaction's work. Errors of every call: unavailable once the transaction has ended. */
export class WriteSession implements Session {
  readonly #writer: Writer;
  #hasEnded = false;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Ends the session. Later calls are refused, because they would join another write. */
  end(): void {
    this.#hasEnded = true;
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt]))[0] as Result;
  }

  async batch(stmts: InStatement[]): Promise<Result[]> {
    // Calls after the end are refused, because the database would commit each further statement alone.
    if (this.#hasEnded || !this.#writer.inTransaction) throw unavailable("The transaction has already ended.");
    for (const stmt of stmts) {
      const sql = sqlOf(stmt);
      if (controlVerbs.has(shapeOf(sql).verb) && !/^\s*ROLLBACK\s+(?:TRANSACTION\s+)?TO\b/i.test(sql)) {
        throw new TypeError("Statements cannot end a transaction. It ends when its function returns.");
      }
    }
    return stmts.length === 0 ? [] : this.#writer.run(stmts);
  }

  async first(stmt: InStatement): Promise<Row | undefined> {
    const one: InStatement | FirstRow = typeof stmt === "string" ? stmt : { ...stmt, firstOnly: true };
    return (await this.execute(one)).rows[0];
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }
}
