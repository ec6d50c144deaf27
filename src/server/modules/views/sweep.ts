import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { viewDedupKeys } from "./table.ts";
import { dayOf } from "./viewer.ts";

const hourMs = 3_600_000;

const columns = sql`day, tenant_id, resource_type, resource_id, dedup_key`;
const removeOld = statement(sql`
  delete from ${viewDedupKeys} where (${columns}) in (
    select ${columns} from ${viewDedupKeys} where day < ${param("before")} limit 1000)`);

/**
 * Removes the marks of days before yesterday, at most a thousand a call. Yesterday's stay, since the views of its last
 * second are written down today, and `doctor` counts by them; a clock may be an hour behind.
 * @returns how many went.
 */
export function sweepViewMarks(ctx: Pick<SystemCtx, "db" | "now">): Promise<number> {
  return run(ctx.db, removeOld, { before: dayOf(ctx.now() - 25 * hourMs) });
}
