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
  const groups = Map.groupBy(stmts.keys(), (index) => {
    const { sql, args } = stmts[index] as Bound;
    const isText = args.every((arg) => arg === null || typeof arg === "string");
    return (isText && joined.getOrMake(sql, joinedWith)) || index;
  });
  const merged = [...groups].map(([sql, places]) => {
    if (places.length === 1) return stmts[places[0] as number] as Bound;
    return { sql: sql as string, args: [JSON.stringify(places.map((place) => stmts[place]?.args))] };
  });
  const split = (outcomes: readonly Outcome[]): Outcome[] => {
    const all: Outcome[] = [];
    for (const [index, places] of [...groups.values()].entries()) {
      const outcome = outcomes[index];
      if (places.length === 1) all[places[0] as number] = outcome;
      else if (!isResult(outcome)) throw outcome ?? new Error("A read did not run.");
      else {
        for (const place of places) all[place] = { rows: [], rowsAffected: 0 };
        for (const row of outcome.rows) {
          const place = places[row.asked_at as number] as number;
          delete row.asked_at;
          (all[place] as Result).rows.push(row);
        }
      }
    }
    return all;
  };
  return { merged, split };
}
