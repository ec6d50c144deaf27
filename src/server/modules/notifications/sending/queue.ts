import type { InStatement } from "@libsql/core/api";
import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { WorkCtx } from "../../../context.ts";
import { pick } from "../../../db/selection.ts";
import { all, bind, createPurge, param, statement } from "../../../db/statement.ts";
import type { Answer, Source } from "../../../delivery/channel.ts";
import { createQueue, deliveryId, isDue } from "../../../delivery/claim.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { tenants } from "../../tenants/table.ts";
import { forAudiences, isMeant } from "../messages/recipients.ts";
import { pushDeliveries, pushMessages, pushRegistrations } from "../table.ts";

const batchSize = 500;
const maxMessages = 100;

/** Orders come before messages. In each group, registrations that already received a message come before others. */
const priority = sql`(m.kind <> 'order') * 2 + (r.is_proven = 0)`;
const priorities = [0, 1, 2, 3];

const unfinished = pick(pushMessages, "id", "topic", "userId", "lang");
const isUnfinished = and(isNotNull(pushMessages.position), eq(tenants.status, "active"));
const selectUnfinished = statement((q) => {
  const messages = q.select(unfinished).from(pushMessages).innerJoin(tenants, eq(tenants.id, pushMessages.tenantId));
  const ordersFirst = sql`${pushMessages.kind} = 'order' desc`;
  return messages.where(isUnfinished).orderBy(ordersFirst, pushMessages.id).limit(maxMessages);
});
const fanOutStatements = forAudiences(({ from, id, where }) => {
  // The size of a batch includes registrations of other languages, so that reading a batch never takes long.
  const batch = sql`(
    select m.tenant_id, m.id as message_id, r.id, r.platform, ${priority} as priority, ${isMeant} as is_meant
    from ${pushMessages} m cross join ${from}
    where m.id = ${param("id")} and m.expires_at > ${param("now")} and ${where} and ${id} > m.position
    order by ${id} limit ${sql.raw(String(batchSize))})`;
  return {
    insert: statement(sql`
      insert into ${pushDeliveries} (id, tenant_id, message_id, registration_id, platform, priority, status,
        next_attempt_at, created_at)
      select ${deliveryId}, tenant_id, message_id, id, platform, priority, 'waiting', ${param("now")}, ${param("now")}
      from ${batch} where is_meant on conflict (message_id, registration_id) do nothing`),
    movePosition: statement(sql`
      update ${pushMessages}
      set position = (select iif(count(*) = ${sql.raw(String(batchSize))}, max(id), null) from ${batch})
      where id = ${param("id")} and position is not null`),
  };
});

/**
 * Creates deliveries of queued messages, one batch per message. The transaction also moves the message's position,
 * so that no process skips a device or sends to it twice.
 */
export async function fanOut(ctx: WorkCtx): Promise<void> {
  // Each message gets one batch per call, so that a message to many devices does not delay the others.
  for (const { id, ...recipients } of await all(ctx.db, selectUnfinished)) {
    const { insert, movePosition } = fanOutStatements(recipients);
    const values = { id, deliveryId: newId("psh"), now: toTimestamp(ctx.now()) };
    await ctx.db.batch([bind(insert, values), bind(movePosition, values)]);
  }
}

// If nothing waits, the first condition decides after one lookup.
const isReady = sql`exists(select 1 from ${pushDeliveries} where status = 'waiting') and ${tenants.status} = 'active'
  and exists(select 1 from ${pushDeliveries}
    where tenant_id = ${tenants.id} and priority in (${sql.raw(`${priorities}`)}) and ${isDue})`;
const selectReady = statement((q) => q.select({ tenantId: tenants.id }).from(tenants).where(isReady));
const dueOf = (priority: number) => sql`select id from (select id from ${pushDeliveries}
  where tenant_id = ${param("key")} and priority = ${sql.raw(String(priority))} and ${isDue}
  order by next_attempt_at limit ${param("max")})`;
const which = sql`${sql.join(priorities.map(dueOf), sql` union all `)} limit ${param("max")}`;
const isTheirs = sql`${pushMessages.userId} is null or ${pushMessages.userId} is ${pushRegistrations.userId}`;
const claimed = {
  ...pick(pushDeliveries, "id", "attempts", "platform", "priority", "tenantId", "messageId"),
  ...pick(pushMessages, "kind", "content", "expiresAt"),
  // The columns of a registration are null after the registration was removed.
  registrationId: pushRegistrations.id,
  ...pick(pushRegistrations, "target", "lang"),
  ...{ store: tenants.title, language: tenants.language, isTheirs: isTheirs.mapWith(Boolean) },
  isProven: sql`coalesce(${pushRegistrations.isProven}, 0)`.mapWith(Boolean),
};
const isClaimed = sql`${pushDeliveries.id} in (select value from json_each(${param("ids")}))`;
const read = statement((q) => {
  const deliveries = q.select(claimed).from(pushDeliveries).where(isClaimed).orderBy(pushDeliveries.priority);
  const known = deliveries.innerJoin(pushMessages, eq(pushMessages.id, pushDeliveries.messageId));
  const stored = known.innerJoin(tenants, eq(tenants.id, pushDeliveries.tenantId));
  return stored.leftJoin(pushRegistrations, eq(pushRegistrations.id, pushDeliveries.registrationId));
});
const markProven = statement(sql`
  update ${pushRegistrations} set is_proven = ${param("isProven")},
    delivered_at = case when ${param("isProven")} then ${param("now")} else delivered_at end
  where tenant_id = ${param("tenantId")} and id = ${param("registrationId")} and (is_proven <> ${param("isProven")}
    or (${param("isProven")} and coalesce(delivered_at, '') <= ${param("dayBefore")}))`);
export const pushQueue = createQueue(pushDeliveries, { which, read, delivered: "sent" });
// Does not remove a device that has registered again meanwhile: its target was encrypted again, so it differs.
const removeGone = statement(sql`
  delete from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and id = ${param("registrationId")} and target = ${param("target")}`);

const dayMs = 86_400_000;
const keptMs = 30 * dayMs;
const unusedMs = 180 * dayMs;

export type PushTask = Awaited<ReturnType<typeof pushQueue.claim>>[number];

export async function listReady(ctx: WorkCtx): Promise<Source[]> {
  const stores = await all(ctx.db, selectReady, { now: toTimestamp(ctx.now()) });
  return stores.map(({ tenantId }) => ({ key: tenantId, tenantId }));
}

/**
 * Returns statements that record a push service's answer in the registration. A device that did not answer comes after
 * others until it receives a message, so that it does not delay the notifications of other customers again.
 */
export function bindRegistration({ now }: WorkCtx, task: PushTask, { result, isGone, status }: Answer): InStatement[] {
  const { tenantId, registrationId, target } = task;
  if (isGone) return [bind(removeGone, { tenantId, registrationId, target })];
  if (result !== "accepted" && status !== null) return [];
  const times = { now: toTimestamp(now()), dayBefore: toTimestamp(now() - dayMs) };
  return [bind(markProven, { tenantId, registrationId, isProven: result === "accepted" ? 1 : 0, ...times })];
}

export const purgePushes = createPurge(
  pushDeliveries,
  sql`status in ('sent', 'failed', 'dropped', 'expired') and finished_at <= ${param("before")}`,
  keptMs,
);

export const purgeRegistrations = createPurge(pushRegistrations, sql`used_at <= ${param("before")}`, unusedMs);

export const purgeMessages = createPurge(
  pushMessages,
  sql`created_at <= ${param("before")} and position is null
    and not exists(select 1 from ${pushDeliveries} d where d.message_id = ${pushMessages.id})`,
  keptMs,
);
