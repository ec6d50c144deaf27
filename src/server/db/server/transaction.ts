import type { InStatement } from "@libsql/core/api";
import { unavailable } from "../../errors.ts";
import type { BatchMode, Result, Session } from "../session.ts";
import { bindForServer } from "./calls.ts";
import type { Unit } from "./unit.ts";

/** The session of one attempt at a transaction, whose statements go to the next exchange. */
export class ServerTransaction implements Session {
  readonly #unit: Unit;
  readonly #writes: { join(unit: Unit): void };
  readonly #isJoined: boolean;

  /** @param isJoined for work inside another's transaction, which it cannot end. */
  constructor(unit: Unit, writes: { join(unit: Unit): void }, isJoined = false) {
    this.#unit = unit;
    this.#writes = writes;
    this.#isJoined = isJoined;
  }

  async execute(stmt: InStatement): Promise<Result> {
    return (await this.batch([stmt]))[0] as Result;
  }

  async batch(stmts: InStatement[], mode?: BatchMode): Promise<Result[]> {
    if (this.#unit.hasSettled || this.#unit.end) throw unavailable("The transaction has already ended.");
    const results = this.#unit.want(stmts.map(bindForServer));
    if (mode === "end" || (mode === "last" && !this.#isJoined)) this.#unit.end = "commit";
    this.#writes.join(this.#unit);
    return results;
  }

  transaction<T>(fn: (tx: Session) => Promise<T>): Promise<T> {
    return fn(new ServerTransaction(this.#unit, this.#writes, true));
  }
}
