import { LibsqlError } from "@libsql/core/api";
import { AppError, unavailable } from "../../errors.ts";
import { bindArgs } from "../bind-args.ts";
import { mapServerError } from "../db-errors.ts";
import { shapeOf } from "../scan-sql.ts";
import type { Result } from "../session.ts";
import type { Bound } from "./calls.ts";
import type { Condition, HranaStream, Outcome, Step } from "./hrana.ts";
import type { Unit } from "./unit.ts";
import { isResult, verifying } from "./verify.ts";

/** Where the steps of a unit are in a batch. */
interface Place {
  unit: Unit;
  /** Whether everything that it has seen was confirmed. */
  confirmed: Condition;
  /** The step of the first wanted statement. */
  wantedAt: number;
  /** How many of the calls that the unit waits for are in the batch; more may come while it is under way. */
  calls: number;
}

const isOpen: Condition = { type: "not", cond: { type: "is_autocommit" } };

/** One batch with conditional steps: a group of units that is committed, then one that is rolled back. */
class Batch {
  readonly steps: Step[] = [];
  /** The row that the next one of each used chain follows. */
  readonly links: Links = new Map();
  readonly #known: Links;

  constructor(known: Links) {
    this.#known = known;
  }

  add({ sql, args = [], chain }: Partial<Bound> & { sql: string }, condition?: Condition): number {
    if (chain === undefined) return this.steps.push({ sql, args, condition }) - 1;
    const { select, follow } = chain;
    const next = follow(this.links.get(select) ?? this.#known.get(select) ?? null);
    this.links.set(select, next.last);
    return this.steps.push({ sql, args: bindArgs(shapeOf(sql).params, next.args), condition }) - 1;
  }

  /** Adds a transaction of units, each with a savepoint, so that each succeeds or fails alone. */
  addGroup(units: readonly Unit[], last: "COMMIT" | "ROLLBACK"): { begin: number; end: number; places: Place[] } {
    const begin = this.add({ sql: "BEGIN IMMEDIATE" }, { type: "is_autocommit" });
    const places = units.map((unit) => this.#addUnit(unit, { type: "ok", step: begin }));
    const end = this.add({ sql: last }, { type: "and", conds: [{ type: "ok", step: begin }, isOpen] });
    return { begin, end, places };
  }

  #addUnit(unit: Unit, begun: Condition): Place {
    // A fault such as a full disk ends the whole transaction.
    const savepoint = this.add({ sql: "SAVEPOINT bodega_unit" }, { type: "and", conds: [begun, isOpen] });
    let confirmed: Condition = { type: "ok", step: savepoint };
    for (const played of unit.seen) {
      if (unit.end === undefined && shapeOf(played.stmt.sql).reads) continue;
      const type = played.outcome instanceof Error ? "error" : "ok";
      const stmts = unit.end === undefined ? [played.stmt] : verifying(played);
      for (const stmt of stmts) confirmed = { type, step: this.add(stmt, confirmed) };
    }
    let done = confirmed;
    const wantedAt = this.steps.length;
    for (const { stmts } of unit.wanted) {
      for (const stmt of stmts) done = { type: "ok", step: this.add(stmt, done) };
    }
    const held: Condition = { type: "ok", step: savepoint };
    const undone: Condition = unit.end === "undo" ? held : { type: "and", conds: [held, { type: "not", cond: done }] };
    this.add({ sql: "ROLLBACK TO bodega_unit" }, undone);
    this.add({ sql: "RELEASE bodega_unit" }, held);
    return { unit, confirmed, wantedAt, calls: unit.wanted.length };
  }
}

/** `last` of the newest row of chains, by the statement that selects it. */
export type Links = Map<string, string | null>;

/**
 * Runs units in one exchange, in their order, those that have ended before the others.
 * @param known what chains may go on with. Where it is wrong, the units wait for another exchange, since each reads it anew.
 * @returns a function that answers each of them.
 * @throws the error of the network or the server, and of a lock that another program holds; nothing is answered then.
 */
export async function exchange(stream: HranaStream, units: readonly Unit[], known: Links): Promise<() => void> {
  const batch = new Batch(known);
  const byOrder = units.toSorted((a, b) => a.order - b.order);
  const ended = byOrder.filter(({ end }) => end !== undefined);
  const others = byOrder.filter(({ end }) => end === undefined);
  const committed = ended.length > 0 ? batch.addGroup(ended, "COMMIT") : undefined;
  if (committed) batch.add({ sql: "ROLLBACK" }, isOpen);
  const tried = others.length > 0 ? batch.addGroup(others, "ROLLBACK") : undefined;
  const newest = [...batch.links.keys()].map((select) => ({ select, step: batch.add({ sql: select }) }));
  const outcomes = await stream.run(batch.steps);

  const first = outcomes[(committed ?? tried)?.begin as number];
  if (first instanceof LibsqlError) throw first;
  for (const { select, step } of newest) {
    const outcome = outcomes[step];
    if (isResult(outcome)) known.set(select, (outcome.rows[0]?.last ?? null) as string | null);
  }
  return () => {
    if (committed) {
      const end = outcomes[committed.end];
      // Otherwise a fault has ended the transaction as a whole.
      const fault = () =>
        outcomes.find((outcome) => outcome instanceof Error) ?? new Error("The server ended the transaction.");
      const loss = isResult(end) ? undefined : (end ?? fault());
      for (const place of committed.places) answerEnded(place, outcomes, loss);
    }
    if (tried) {
      const begun = outcomes[tried.begin];
      for (const place of tried.places) answerTried(place, outcomes, begun);
    }
  };
}

function answerEnded(place: Place, outcomes: Outcome[], loss: Error | undefined): void {
  const { unit, confirmed } = place;
  if (loss !== undefined) unit.lose(lostError(loss));
  else if (holds(confirmed, outcomes)) {
    if (answerWanted(place, outcomes)) unit.settle("ended");
  } else unit.settle("conflict");
}

function answerTried(place: Place, outcomes: Outcome[], begun: Outcome): void {
  // Another program took the lock first, or a fault ended the transaction before: it waits for the next exchange.
  if (!isResult(begun)) return;
  if (holds(place.confirmed, outcomes)) answerWanted(place, outcomes);
  else place.unit.settle("conflict");
}

/**
 * Answers what a unit waits for up to the first error, behind which nothing has run. False when it must wait for the next
 * exchange, because another program has written the next link of a chain.
 */
function answerWanted({ unit, wantedAt, calls }: Place, outcomes: Outcome[]): boolean {
  let at = wantedAt;
  for (const wanted of unit.wanted.slice(0, calls)) {
    const own = outcomes.slice(at, at + wanted.stmts.length);
    at += own.length;
    const failed = own.findIndex((outcome) => !isResult(outcome));
    if (wanted.stmts[failed]?.isCheck) {
      if (wanted.stmts[failed - 1]?.chain) return false;
      unit.settle("conflict");
      return true;
    }
    unit.see(wanted.stmts, failed === -1 ? own : own.slice(0, failed + 1));
    unit.wanted.shift();
    if (failed === -1) wanted.resolve(own as Result[]);
    else {
      wanted.reject(mapServerError(own[failed]));
      return true;
    }
  }
  return true;
}

function holds(condition: Condition, outcomes: Outcome[]): boolean {
  if (condition.type !== "ok" && condition.type !== "error") return false;
  const outcome = outcomes[condition.step];
  return condition.type === "ok" ? isResult(outcome) : outcome instanceof Error;
}

/** The error of a unit that an exchange lost. Whether it was committed is not known if the server could not be reached. */
export function lostError(error: unknown): AppError {
  const mapped = mapServerError(error);
  return mapped instanceof AppError ? mapped : unavailable(undefined, { cause: error });
}
