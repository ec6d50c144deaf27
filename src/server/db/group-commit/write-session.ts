import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { assertOrdinary } from "../scan-sql.ts";
import type { Result, Session } from "../session.ts";
import type { Writer } from "./writer.ts";

/** The session that the function of a transaction gets. After the transaction, all calls throw unavailable. */
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
    // If the database has ended the transaction, it would commit each further statement alone.
    if (this.#hasEnded || !this.#writer.inTransaction) throw unavailable("The transaction has already ended.");
    const isOfSavepoint = (sql: string) => /^\s*(?:SAVEPOINT|RELEASE|ROLLBACK\s+TO)\b/i.test(sql);
    for (const sql of stmts.map(sqlOf)) if (!isOfSavepoint(sql)) assertOrdinary(sql);
    return stmts.length === 0 ? [] : this.#writer.run(stmts);
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(this);
  }
}
