import { LruCache } from "../../values/lru-cache.ts";
import { joinedWith } from "../scan-sql.ts";
import type { Result } from "../session.ts";
import type { Bound } from "./calls.ts";
import type { Outcome } from "./hrana.ts";
import { isResult } from "./verify.ts";

const joined = new LruCache<string>(256);

/**
 * Makes one statement of equal ones, because parsing one costs the server more than finding a row. Returns the statements
 * to run, and a function that splits their outcomes; it throws the error of a merged one, of which one may be the cause.
 */
export function mergeReads(stmts: readonly Bound[]) {
  /** The places of equal statements with equal arguments, which share an outcome. */
  const equal = Map.groupBy(stmts.keys(), (index) => {
    const { sql, args } = stmts[index] as Bound;
    return args.every((arg) => arg === null || typeof arg === "string") ? JSON.stringify(args) + sql : index;
  });
  const byName = Map.groupBy(equal, ([key, [first]]) => {
    return (typeof key === "string" && joined.getOrMake(stmts[first as number]?.sql as string, joinedWith)) || key;
  });
  const groups = [...byName].map(([name, members]) => {
    const asked = members.map(([, places]) => ({ places, stmt: stmts[places[0] as number] as Bound }));
    const args = () => [JSON.stringify(asked.map(({ stmt }) => stmt.args))];
    const stmt = asked.length === 1 ? (asked[0]?.stmt as Bound) : { sql: name as string, args: args() };
    return { stmt, asked: asked.map(({ places }) => places) };
  });
  const split = (outcomes: readonly Outcome[]): Outcome[] => {
    const all: Outcome[] = [];
    for (const [index, { asked }] of groups.entries()) {
      const outcome = outcomes[index];
      if (asked.length > 1 && !isResult(outcome)) throw outcome ?? new Error("A read did not run.");
      const own = asked.length === 1 ? [outcome] : separate(outcome as Result, asked.length);
      for (const [at, places] of asked.entries()) for (const place of places) all[place] = own[at];
    }
    return all;
  };
  return { merged: groups.map(({ stmt }) => stmt), split };
}

function separate({ rows }: Result, count: number): Result[] {
  const all = Array.from({ length: count }, (): Result => ({ rows: [], rowsAffected: 0 }));
  for (const row of rows) {
    const own = all[row.asked_at as number] as Result;
    delete row.asked_at;
    own.rows.push(row);
  }
  return all;
}
