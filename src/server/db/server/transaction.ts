import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import { shapeOf } from "../scan-sql.ts";
import type { BatchMode, Result, Session } from "../session.ts";
import { type Bound, bindForServer } from "./calls.ts";
import type { Unit } from "./unit.ts";

/** The exchanges that a transaction's statements can go to. */
interface Ways {
  reads: { run(stmts: Bound[]): Promise<Result[]> };
  writes: { join(unit: Unit): void };
}

/** The session of one attempt at a transaction, whose statements go to the next exchange. */
export class ServerTransaction implements Session {
  readonly #unit: Unit;
  readonly #ways: Ways;
  readonly #isJoined: boolean;

  /** @param isJoined for work inside another's transaction, which it cannot end. */
  constructor(unit: Unit, ways: Ways, isJoined = false) {
    this.#unit = unit;
    this.#ways = ways;
    this.#isJoined = isJoined;
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt]))[0] as Result;
  }

  async batch(stmts: InStatement[], mode?: BatchMode): Promise<Result[]> {
    if (this.#unit.hasSettled || this.#unit.end) throw unavailable("The transaction has already ended.");
    const bound = stmts.map(bindForServer);
    const isLast = mode === "end" || (mode === "last" && !this.#isJoined);
    // A transaction that begins again waits for its turn, in which it sees what those before it will commit.
    if (!isLast && !this.#unit.isRetry && !this.#unit.hasWritten && bound.every(({ sql }) => shapeOf(sql).reads)) {
      const results = await this.#ways.reads.run(bound);
      this.#unit.see(bound, results, true);
      return results;
    }
    const results = this.#unit.want(bound);
    if (isLast) this.#unit.end = "commit";
    this.#ways.writes.join(this.#unit);
    return results;
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(new ServerTransaction(this.#unit, this.#ways, true));
  }
}
