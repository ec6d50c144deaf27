import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { toTimestamp } from "../values/stamps.ts";
import type { Executor } from "./session.ts";
import { run, statement } from "./statement.ts";

export const purgeBatch = 1000;

/**
 * Creates a function that deletes up to a thousand old rows of a table a call, and returns how many.
 * @param isOld SQL condition; its parameter `before` is the time `keptMs` milliseconds ago.
 */
export function createPurge(table: SQLiteTable, isOld: SQL, keptMs: number) {
  const removeOld = statement(sql`
    delete from ${table} where rowid in (
      select rowid from ${table} where ${isOld} limit ${sql.raw(String(purgeBatch))})`);
  return (ctx: { db: Executor; now: () => number }): Promise<number> =>
    run(ctx.db, removeOld, { before: toTimestamp(ctx.now() - keptMs) });
}
