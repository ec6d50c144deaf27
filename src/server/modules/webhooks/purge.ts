import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { events } from "../events/table.ts";
import { tenants } from "../tenants/table.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const dayMs = 86_400_000;
/** How long rows are kept, in days. An event that a webhook has not received is kept for up to `undelivered` days. */
const keptDays = { delivered: 7, failed: 30, events: 30, undelivered: 60 };

const removeDone = statement(sql`
  delete from ${webhookDeliveries} where id in (select id from ${webhookDeliveries}
    where (status = 'delivered' and finished_at <= ${param("delivered")})
      or (status = 'failed' and finished_at <= ${param("failed")}) limit 1000)`);
const isUndelivered = sql`exists (select 1 from ${webhooks} w where w.tenant_id = t.id and (w.position < k.sequence
  or exists (select 1 from ${webhookDeliveries} d
    where d.webhook_id = w.id and d.event = k.sequence and d.status = 'waiting')))`;
// Each store's events are deleted in order, up to the first that must stay. The newest stays, because readers of the
// feed continue from it.
const removeOldEvents = statement(sql`
  delete from ${events} where sequence in (
    select e.sequence from ${tenants} t cross join ${events} e on e.tenant_id = t.id and e.sequence < coalesce(
      (select k.sequence from (select * from ${events} where tenant_id = t.id order by sequence limit 1001) k
        where k.created_at > ${param("events")} or (k.created_at > ${param("undelivered")} and ${isUndelivered})
        limit 1),
      (select max(sequence) from ${events} where tenant_id = t.id))
    limit 1000)`);

export function purgeDeliveries(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeDone, cutoffs(ctx));
}

export function purgeEvents(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeOldEvents, cutoffs(ctx));
}

function cutoffs({ now }: WorkCtx) {
  return Object.fromEntries(Object.entries(keptDays).map(([name, days]) => [name, toTimestamp(now() - days * dayMs)]));
}
