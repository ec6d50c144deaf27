import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { pick, pickStored } from "../../db/columns.ts";
import { equals, matches, ofStore, params } from "../../db/conditions.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { requireWhole } from "../../values/whole-number.ts";
import { recordAudit } from "../audit/service.ts";
import { isEvent } from "../events/service.ts";
import { events } from "../events/table.ts";
import { matchTypes } from "../events/types.ts";
import { tenants } from "../tenants/table.ts";
import { getWebhook } from "./service.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const batchSize = 500;
/** Waiting deliveries of one webhook; further deliveries are made once some have ended. */
export const maxWaiting = 10_000;

const selectBehind = statement((q) =>
  q
    .select({ id: webhooks.id })
    .from(webhooks)
    .innerJoin(tenants, eq(tenants.id, webhooks.tenantId))
    .where(
      sql`${tenants.status} = 'active' and exists(select 1 from ${events} e
          where e.tenant_id = ${webhooks.tenantId} and e.sequence > ${webhooks.position})
        and (select count(*) from (select 1 from ${webhookDeliveries} d
          where d.webhook_id = ${webhooks.id} and d.status = 'waiting' limit ${maxWaiting})) < ${maxWaiting}`,
    )
    .orderBy(webhooks.id),
);
const selectWebhook = statement((q) => q.select().from(webhooks).where(equals(webhooks.id, "id")));
const isAfter = and(ofStore(events), gt(events.sequence, param("position")));
const selectNew = statement((q) =>
  q
    .select(pick(events, "sequence", "type"))
    .from(events)
    .where(isAfter)
    .orderBy(events.sequence)
    .limit(batchSize),
);
/** SQL that makes deliveries of `rows`, JSON arrays of an id and an event's sequence, up to the action of the conflict. */
const insertRows = sql`
  insert into ${webhookDeliveries} (id, tenant_id, webhook_id, event, status, next_attempt_at, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("webhookId")}, json_extract(value, '$[1]'),
    'waiting', ${param("now")}, ${param("now")}
  from json_each(${param("rows")}) where true
  on conflict (webhook_id, event)`;
const insertDeliveries = statement(sql`${insertRows} do nothing`);
const movePosition = statement((q) => q.update(webhooks).set(params("position")).where(equals(webhooks.id, "id")));

/** Makes the deliveries of new events in the transaction that moves the position: none is skipped, or made twice. */
export async function fanOut(ctx: WorkCtx): Promise<boolean> {
  // One batch for each at a time: a store with many events must not delay the others.
  for (const { id } of await all(ctx.db, selectBehind)) await fanOutTo(ctx, id);
  return false;
}

async function fanOutTo(ctx: WorkCtx, id: string): Promise<void> {
  await inTransaction(ctx, async ({ db }) => {
    const webhook = await get(db, selectWebhook, { id });
    if (!webhook) return;
    const { tenantId, position } = webhook;
    const fresh = await all(db, selectNew, { tenantId, position });
    const last = fresh.at(-1);
    if (!last) return;
    const types = new Set<string>(matchTypes(JSON.parse(webhook.types) as string[]));
    const rows = fresh.filter(({ type }) => types.has(type)).map(({ sequence }) => [newId("dlv"), sequence]);
    if (rows.length > 0) {
      const now = toTimestamp(ctx.now());
      await run(db, insertDeliveries, { tenantId, webhookId: id, rows: JSON.stringify(rows), now });
    }
    await run(db, movePosition, { id, position: last.sequence });
  });
}

const maxRows = 1000;

// The id and type of the event are null once it is purged.
const record = {
  ...{ delivery_id: webhookDeliveries.id, event_id: events.id, type: events.type },
  ...pickStored(webhookDeliveries, "status", "attempts"),
  next_attempt_at: sql<string | null>`case when ${webhookDeliveries.status} = 'waiting'
    then ${webhookDeliveries.nextAttemptAt} end`,
  ...pickStored(webhookDeliveries, "lastStatus", "lastError", "createdAt", "finishedAt"),
};
const ofEvent = and(eq(events.sequence, webhookDeliveries.event), eq(events.tenantId, webhookDeliveries.tenantId));
const ofWebhook = and(ofStore(webhookDeliveries), equals(webhookDeliveries.webhookId, "webhookId"));
const selectDeliveries = statement((q) =>
  q
    .select(record)
    .from(webhookDeliveries)
    .leftJoin(events, ofEvent)
    .where(and(ofWebhook, matches(webhookDeliveries.status, "status")))
    .orderBy(desc(webhookDeliveries.event))
    .limit(sql.placeholder("limit")),
);
const selectSequence = statement((q) => q.select({ sequence: events.sequence }).from(events).where(isEvent("eventId")));
const selectAfter = statement((q) =>
  q
    .select(pick(events, "sequence"))
    .from(events)
    .where(
      sql`${isAfter} and sequence <= (select w.position from webhooks w where w.id = ${param("webhookId")})
        and type in (select value from json_each(${param("types")}))`,
    )
    .orderBy(events.sequence)
    .limit(batchSize),
);
// Skips deliveries that a process is sending now.
const queueAgain = statement(sql`
  ${insertRows} do update set status = 'waiting', attempts = 0, next_attempt_at = excluded.next_attempt_at,
    leased_until = null, finished_at = null, created_at = excluded.created_at
  where status <> 'waiting' or leased_until is null or leased_until <= ${param("now")}`);
const queueFailed = statement(sql`
  update ${webhookDeliveries} set status = 'waiting', attempts = 0, next_attempt_at = ${param("now")},
    leased_until = null, finished_at = null, created_at = ${param("now")}
  where ${ofWebhook} and status = 'failed'
    and exists(select 1 from ${events} e where e.sequence = ${webhookDeliveries.event})`);

/** The deliveries of a webhook, newest event first. Errors: notFound, validationFailed unless `limit` is from 1 to 1000. */
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
 * Queues deliveries again, from the first attempt on, and returns how many; not those that are being sent now.
 * @throws notFound for an unknown webhook, or an event that is unknown or purged.
 */
export function replayDeliveries(ctx: Ctx, webhookId: string, choice: ReplayChoice): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const { types } = await getWebhook(tx, webhookId);
    const replayed = await queue(tx, webhookId, choice, types);
    const details = { ...(choice === "failed" ? { failed: true } : choice), count: replayed };
    await recordAudit(tx, { event: "webhook.replayed", subject: webhookId, details });
    return replayed;
  });
}

async function queue(tx: Ctx, webhookId: string, choice: ReplayChoice, types: string[]): Promise<number> {
  const tenantId = tx.tenant.id;
  const now = toTimestamp(tx.now());
  if (choice === "failed") return run(tx.db, queueFailed, { tenantId, webhookId, now });
  const eventId = "event" in choice ? choice.event : choice.after;
  const known = await get(tx.db, selectSequence, { tenantId, eventId });
  if (!known) throw notFound("event", eventId, { remedy: "Check the id. Events are removed after 30 days." });
  const insert = (sequences: number[]) => {
    const rows = JSON.stringify(sequences.map((sequence) => [newId("dlv"), sequence]));
    return run(tx.db, queueAgain, { tenantId, webhookId, rows, now });
  };
  if ("event" in choice) return insert([known.sequence]);
  const matching = JSON.stringify(matchTypes(types));
  let count = 0;
  for (let position = known.sequence; ; ) {
    const found = await all(tx.db, selectAfter, { tenantId, webhookId, position, types: matching });
    const last = found.at(-1);
    if (!last) return count;
    count += await insert(found.map(({ sequence }) => sequence));
    position = last.sequence;
  }
}
