import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { events } from "./table.ts";

const dayMs = 86_400_000;
const keptMs = 30 * dayMs;
/** What a webhook has still to deliver is kept longer, but not for ever. */
const longestMs = 60 * dayMs;

// The tables of webhooks are named here, not imported: they stand on this module. A store's newest event stays, so that
// a reader of a quiet store can go on from it.
const removeOld = statement(sql`
  delete from ${events} where sequence in (select sequence from ${events} e where e.created_at <= ${param("before")}
    and exists (select 1 from ${events} n where n.tenant_id = e.tenant_id and n.sequence > e.sequence)
    and (e.created_at <= ${param("longBefore")} or not exists (
      select 1 from webhooks w where w.tenant_id = e.tenant_id and (w.position < e.sequence or exists (
        select 1 from webhook_deliveries d
        where d.webhook_id = w.id and d.event = e.sequence and d.status = 'waiting'))))
    order by e.created_at limit 1000)`);

/**
 * Removes events that are older than thirty days, at most a thousand a call. Those that a webhook waits for stay until
 * they are delivered, for thirty days more at most.
 * @returns how many went.
 */
export function sweepEvents(ctx: Pick<SystemCtx, "db" | "now">): Promise<number> {
  const before = toTimestamp(ctx.now() - keptMs);
  return run(ctx.db, removeOld, { before, longBefore: toTimestamp(ctx.now() - longestMs) });
}
