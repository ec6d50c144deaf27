import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { events } from "./table.ts";

const dayMs = 86_400_000;
const retentionMs = 30 * dayMs;
/** Retention of events that a webhook has not delivered yet. */
const maxRetentionMs = 60 * dayMs;

// The tables of webhooks are not imported, because webhooks import this module. A store's newest event stays, because
// readers of the feed continue from it.
const deleteOld = statement(sql`
  delete from ${events} where sequence in (select sequence from ${events} e where e.created_at <= ${param("before")}
    and exists (select 1 from ${events} n where n.tenant_id = e.tenant_id and n.sequence > e.sequence)
    and (e.created_at <= ${param("longBefore")} or not exists (
      select 1 from webhooks w where w.tenant_id = e.tenant_id and (w.position < e.sequence or exists (
        select 1 from webhook_deliveries d
        where d.webhook_id = w.id and d.event = e.sequence and d.status = 'waiting'))))
    order by e.created_at limit 1000)`);

/** Deletes up to a thousand events older than 30 days, or 60 if a webhook still needs them. Returns how many. */
export function purgeEvents(ctx: Pick<SystemCtx, "db" | "now">): Promise<number> {
  const before = toTimestamp(ctx.now() - retentionMs);
  return run(ctx.db, deleteOld, { before, longBefore: toTimestamp(ctx.now() - maxRetentionMs) });
}
