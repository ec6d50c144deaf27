import type { Result } from "../session.ts";
import type { Bound } from "./calls.ts";
import type { Outcome } from "./hrana.ts";
import { checkChanges, type Played } from "./verify.ts";

/** Statements whose results a caller waits for, all or the first error. */
interface Wanted {
  stmts: Bound[];
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Writes that are committed together or not at all. Until the unit has ended, its statements run only to learn their
 * outcomes and are rolled back; they run again with the statements that follow. In the end they run once more and are
 * committed, if every outcome is the one that was seen. So no transaction stays open while the caller decides.
 */
export class Unit {
  /** Its place among the units of this process; kept when it is tried again. */
  readonly order: number;
  /** Whether it was tried before, and rows that it had seen were changed meanwhile. */
  readonly isRetry: boolean;
  readonly seen: Played[] = [];
  readonly wanted: Wanted[] = [];
  end: "commit" | "undo" | undefined;
  readonly #settled = Promise.withResolvers<"ended" | "conflict">();
  hasSettled = false;
  /** Whether a statement went to an exchange of writes. Until then its reads share those of others. */
  hasWritten = false;

  constructor(order: number, isRetry: boolean) {
    this.order = order;
    this.isRetry = isRetry;
    this.#settled.promise.catch(() => {});
  }

  /** How it ended. A conflict has changed nothing, and the unit can be tried again. Errors: those of `lose`. */
  get settled(): Promise<"ended" | "conflict"> {
    return this.#settled.promise;
  }

  /** Notes outcomes that its caller has seen; `isFirst` before it wrote. */
  see(stmts: readonly Bound[], outcomes: readonly Outcome[], isFirst = false): void {
    const played = outcomes.map((outcome, index) => ({ stmt: stmts[index] as Bound, outcome }));
    const noted = played.filter(({ stmt }) => !stmt.isGuarded && !stmt.isCheck);
    this.seen.splice(isFirst ? 0 : this.seen.length, 0, ...noted);
  }

  want(stmts: Bound[]): Promise<Result[]> {
    this.hasWritten = true;
    const all = stmts.flatMap((stmt) => (stmt.mustChange === undefined ? stmt : [stmt, checkChanges(stmt.mustChange)]));
    return new Promise((resolve, reject) => {
      const answer = (results: Result[]) => resolve(results.filter((_, index) => !all[index]?.isCheck));
      this.wanted.push({ stmts: all, resolve: answer, reject });
    });
  }

  /** After a conflict nothing that the caller still waits for is answered: what it decided is void. */
  settle(how: "ended" | "conflict"): void {
    this.hasSettled = true;
    this.#settled.resolve(how);
  }

  /** Ends it with an error that is not its own. */
  lose(error: unknown): void {
    this.hasSettled = true;
    this.#settled.reject(error);
    for (const { reject } of this.wanted.splice(0)) reject(error);
  }
}
