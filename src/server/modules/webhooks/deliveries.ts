import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { pick, pickStored } from "../../db/selection.ts";
import { all, bind, createPurge, equals, get, matches, ofStore, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { deliveryId } from "../../delivery/claim.ts";
import { notFound } from "../../errors.ts";
import { requireWhole } from "../../values/fields.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { isEvent } from "../events/service.ts";
import { events } from "../events/table.ts";
import { tenants } from "../tenants/table.ts";
import { getWebhook } from "./service.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const batchSize = 500;
/** Maximum waiting deliveries of a webhook. Further deliveries are created after some have ended. */
export const maxWaiting = 10_000;

const isBehind = sql`${tenants.status} = 'active' and exists(select 1 from ${events} e
    where e.tenant_id = ${webhooks.tenantId} and e.sequence > ${webhooks.position})
  and (select count(*) from (select 1 from ${webhookDeliveries} d
    where d.webhook_id = ${webhooks.id} and d.status = 'waiting' limit ${maxWaiting})) < ${maxWaiting}`;
const selectBehind = statement((q) => {
  const active = q.select({ id: webhooks.id }).from(webhooks).innerJoin(tenants, eq(tenants.id, webhooks.tenantId));
  return active.where(isBehind).orderBy(webhooks.id);
});
const isWanted = sql`exists(select 1 from json_each(w.types)
  where value in ('*', e.type, substr(e.type, 1, instr(e.type, '.')) || '*'))`;
/** SQL that creates deliveries of events to the webhook `webhookId`. The caller appends the conflict clause. */
const insertRows = (someEvents: SQL, condition: SQL) => sql`
  insert into ${webhookDeliveries} (id, tenant_id, webhook_id, event, status, next_attempt_at, created_at)
  select ${deliveryId}, w.tenant_id, w.id, e.sequence, 'waiting', ${param("now")}, ${param("now")}
  from ${webhooks} w join ${someEvents} e on e.tenant_id = w.tenant_id
  where w.id = ${param("webhookId")} and ${condition} order by e.sequence
  on conflict (webhook_id, event)`;
const newEvents = sql`(select sequence, type, tenant_id from ${events}
  where tenant_id = (select tenant_id from webhooks where id = ${param("webhookId")})
    and sequence > (select position from webhooks where id = ${param("webhookId")})
  order by sequence limit ${sql.raw(String(batchSize))})`;
const insertDeliveries = statement(sql`${insertRows(newEvents, isWanted)} do nothing`);
const movePosition = statement(sql`
  update ${webhooks} set position = coalesce((select max(sequence) from ${newEvents}), position)
  where id = ${param("webhookId")}`);

/** Creates the deliveries of new events and moves the webhook's position, so that no event is skipped or sent twice. */
export async function fanOut(ctx: WorkCtx): Promise<void> {
  const now = toTimestamp(ctx.now());
  // Creates one batch for each webhook at a time, so that a store with many events does not delay the others.
  for (const { id: webhookId } of await all(ctx.db, selectBehind)) {
    const values = { webhookId, deliveryId: newId("dlv"), now };
    await ctx.db.batch([bind(insertDeliveries, values), bind(movePosition, values)]);
  }
}

const maxRows = 1000;

// The id and type of the event are null after the event was purged.
const record = {
  ...{ delivery_id: webhookDeliveries.id, event_id: events.id, type: events.type },
  ...pickStored(webhookDeliveries, "status", "attempts"),
  next_attempt_at: sql<string | null>`case when ${webhookDeliveries.status} = 'waiting'
    then ${webhookDeliveries.nextAttemptAt} end`,
  ...pickStored(webhookDeliveries, "lastStatus", "lastError", "createdAt", "finishedAt"),
};
export const ofEvent = and(
  eq(events.sequence, webhookDeliveries.event),
  eq(events.tenantId, webhookDeliveries.tenantId),
);
const ofWebhook = and(ofStore(webhookDeliveries), equals(webhookDeliveries.webhookId, "webhookId"));
const isListed = and(ofWebhook, matches(webhookDeliveries.status, "status"));
const selectDeliveries = statement((q) => {
  const deliveries = q.select(record).from(webhookDeliveries).leftJoin(events, ofEvent).where(isListed);
  return deliveries.orderBy(desc(webhookDeliveries.event)).limit(sql.placeholder("limit"));
});
const selectEvent = statement((q) => q.select(pick(events, "sequence")).from(events).where(isEvent("eventId")));
// Queues deliveries again, except those that a process is sending now.
const queueAgain = (condition: SQL) =>
  statement(sql`
    ${insertRows(sql`${events}`, condition)} do update set status = 'waiting', attempts = 0,
      next_attempt_at = excluded.next_attempt_at, leased_until = null, finished_at = null, created_at = excluded.created_at
    where status <> 'waiting' or leased_until is null or leased_until <= ${param("now")}`);
const queueOne = queueAgain(sql`e.sequence = ${param("sequence")}`);
const queueLater = queueAgain(sql`e.sequence > ${param("sequence")} and e.sequence <= w.position and ${isWanted}`);
const queueFailed = queueAgain(sql`e.sequence in (
  select event from ${webhookDeliveries} where webhook_id = w.id and status = 'failed')`);

/** Lists a webhook's deliveries, newest event first. Errors: notFound; validationFailed unless `limit` is 1 to 1000. */
export async function listDeliveries(
  ctx: Ctx,
  webhookId: string,
  { status, limit }: { status?: "waiting" | "delivered" | "failed" | undefined; limit: number },
) {
  requireWhole("limit", limit, 1, maxRows);
  await getWebhook(ctx, webhookId);
  return all(ctx.db, selectDeliveries, { tenantId: ctx.tenant.id, webhookId, status: status ?? null, limit });
}

type ReplayChoice = { event: string } | { after: string } | "failed";

/**
 * Queues deliveries again, except those that are being sent now. Attempts are counted from zero. Returns their number.
 * @throws notFound for an unknown webhook, or an event that is unknown or purged.
 */
export function replayDeliveries(ctx: Ctx, webhookId: string, choice: ReplayChoice): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    await getWebhook(tx, webhookId);
    const values = { webhookId, deliveryId: newId("dlv"), now: toTimestamp(tx.now()) };
    let count: number;
    if (choice === "failed") count = await run(tx.db, queueFailed, values);
    else {
      const eventId = "event" in choice ? choice.event : choice.after;
      const event = await get(tx.db, selectEvent, { tenantId: tx.tenant.id, eventId });
      if (!event) throw notFound("event", eventId, { remedy: "Check the id. Events are removed after 30 days." });
      count = await run(tx.db, "event" in choice ? queueOne : queueLater, { ...values, ...event });
    }
    const details = { ...(choice === "failed" ? { failed: true } : choice), count };
    await recordAudit(tx, { event: "webhook.replayed", subject: webhookId, details });
    return count;
  });
}

/** How long events and ended deliveries are kept. An event that a webhook has not received is kept up to twice as long. */
const keptMs = 30 * 86_400_000;

export const purgeDeliveries = createPurge(
  webhookDeliveries,
  sql`status in ('delivered', 'failed') and finished_at <= ${param("before")}`,
  keptMs,
);

const isUndelivered = sql`exists (select 1 from ${webhooks} w where w.tenant_id = t.id and (w.position < k.sequence
  or exists (select 1 from ${webhookDeliveries} d
    where d.webhook_id = w.id and d.event = k.sequence and d.status = 'waiting')))`;
// Each store's events are deleted in order, up to the first that must not be deleted. The newest is never deleted,
// because readers of the feed continue from it.
const removeOldEvents = statement(sql`
  delete from ${events} where sequence in (
    select e.sequence from ${tenants} t cross join ${events} e on e.tenant_id = t.id and e.sequence < coalesce(
      (select k.sequence from (select * from ${events} where tenant_id = t.id order by sequence limit 1001) k
        where k.created_at > ${param("before")} or (k.created_at > ${param("undelivered")} and ${isUndelivered})
        limit 1),
      (select max(sequence) from ${events} where tenant_id = t.id))
    limit 1000)`);

export function purgeEvents({ db, now }: WorkCtx): Promise<number> {
  const [before, undelivered] = [toTimestamp(now() - keptMs), toTimestamp(now() - 2 * keptMs)];
  return run(db, removeOldEvents, { before, undelivered });
}
