import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { events } from "../events/table.ts";
import { tenants } from "../tenants/table.ts";
import type { ReadyWebhook } from "./shares.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const dayMs = 86_400_000;
const keptMs = { delivered: 7 * dayMs, failed: 30 * dayMs };
/** For longer than an attempt can take, nobody else takes a delivery that one sender has taken. */
export const leaseMs = 60_000;

const isDue = sql`status = 'waiting' and next_attempt_at <= ${param("now")}`;
const selectReady = statement<ReadyWebhook>(sql`
  select w.id, w.tenant_id from ${webhooks} w join ${tenants} t on t.id = w.tenant_id
  where t.status = 'active' and exists(select 1 from ${webhookDeliveries} where webhook_id = w.id and ${isDue})
  order by w.id`);
// Found and taken in one statement, so that no two senders can take the same one.
const takeDue = statement<{ id: string; attempts: number; lease: string }>(sql`
  update ${webhookDeliveries}
  set attempts = attempts + 1, next_attempt_at = ${param("lease")}, leased_until = ${param("lease")}
  where id = (select id from ${webhookDeliveries} where webhook_id = ${param("webhookId")} and ${isDue}
    order by next_attempt_at, event limit 1)
    and exists(select 1 from ${tenants} t where t.id = tenant_id and t.status = 'active')
  returning id, attempts, leased_until as lease`);
const selectTask = statement<Omit<DeliveryTask, keyof TakenDelivery>>(sql`
  select w.id as webhook_id, w.url, w.secret, w.allow_private, t.namespace, d.created_at, e.id as event_id, e.type,
    e.subject, e.data, e.created_at as event_at
  from ${webhookDeliveries} d join ${webhooks} w on w.id = d.webhook_id join ${tenants} t on t.id = d.tenant_id
  left join ${events} e on e.sequence = d.event and e.tenant_id = d.tenant_id
  where d.id = ${param("id")}`);
const isOurs = sql`id = ${param("id")} and status = 'waiting' and leased_until = ${param("lease")}`;
// Whoever has taken or ended it meanwhile: it has arrived, and should not be sent again.
const markDelivered = statement(sql`
  update ${webhookDeliveries} set status = 'delivered', last_status = ${param("status")}, last_error = null,
    leased_until = null, finished_at = ${param("now")}
  where id = ${param("id")} and status in ('waiting', 'failed')`);
const postpone = statement(sql`
  update ${webhookDeliveries} set next_attempt_at = ${param("next")}, last_status = ${param("status")},
    last_error = ${param("error")}, leased_until = null
  where ${isOurs}`);
const markFailed = statement(sql`
  update ${webhookDeliveries} set status = 'failed', last_status = ${param("status")}, last_error = ${param("error")},
    leased_until = null, finished_at = ${param("now")}
  where ${isOurs}`);
const giveBack = statement(sql`
  update ${webhookDeliveries} set next_attempt_at = ${param("now")}, leased_until = null, attempts = attempts - 1
  where ${isOurs}`);
const removeDone = statement(sql`
  delete from ${webhookDeliveries} where id in (select id from ${webhookDeliveries}
    where (status = 'delivered' and finished_at <= ${param("delivered")})
      or (status = 'failed' and finished_at <= ${param("failed")}) limit 1000)`);

type Context = Pick<SystemCtx, "db" | "now">;

/** A delivery that one sender has taken. */
export interface TakenDelivery {
  id: string;
  attempts: number;
  /** Until then it is this sender's. */
  lease: string;
}

/** The same with all that an attempt needs, as it stands now. */
export interface DeliveryTask extends TakenDelivery {
  webhook_id: string;
  url: string;
  /** Sealed. */
  secret: string;
  allow_private: number;
  namespace: string;
  created_at: string;
  /** Null, as the rest of the event, when it is not kept any more. */
  event_id: string | null;
  type: string;
  subject: string;
  data: string;
  event_at: string;
}

/** What came of an attempt; `status` is that of the answer, null where there was none. */
export interface AttemptResult {
  status: number | null;
  error: string;
}

/** The webhooks that have something due; without webhooks that costs one look at an empty table. */
export function listReady(ctx: Context): Promise<ReadyWebhook[]> {
  return all(ctx.db, selectReady, { now: toTimestamp(ctx.now()) });
}

/** Takes the delivery of a webhook that has been due the longest; undefined when none is, or its store is suspended. */
export async function takeDelivery(ctx: Context, webhookId: string): Promise<DeliveryTask | undefined> {
  const at = ctx.now();
  const lease = toTimestamp(at + leaseMs);
  const taken = await get(ctx.db, takeDue, { webhookId, now: toTimestamp(at), lease });
  const task = taken && (await get(ctx.db, selectTask, { id: taken.id }));
  return taken && task && { ...task, ...taken };
}

/** Notes that a delivery has arrived. */
export async function recordDelivered(ctx: Context, { id }: TakenDelivery, status: number): Promise<void> {
  await run(ctx.db, markDelivered, { id, status, now: toTimestamp(ctx.now()) });
}

/** Lets a delivery wait for its next attempt. @param next epoch milliseconds. */
export async function recordDelay(
  ctx: Context,
  { id, lease }: TakenDelivery,
  next: number,
  { status, error }: AttemptResult,
): Promise<void> {
  await run(ctx.db, postpone, { id, lease, next: toTimestamp(next), status, error });
}

/** Ends a delivery that has not arrived. */
export async function recordFailed(
  ctx: Context,
  { id, lease }: TakenDelivery,
  { status, error }: AttemptResult,
): Promise<void> {
  await run(ctx.db, markFailed, { id, lease, status, error, now: toTimestamp(ctx.now()) });
}

/** Gives back what a sender that stops has taken; the broken attempt does not count. */
export async function returnDelivery(ctx: Context, { id, lease }: TakenDelivery): Promise<void> {
  await run(ctx.db, giveBack, { id, lease, now: toTimestamp(ctx.now()) });
}

/** Removes what arrived a week ago, and what failed thirty days ago, at most a thousand a call. Returns how many went. */
export function sweepDeliveries(ctx: Context): Promise<number> {
  const delivered = toTimestamp(ctx.now() - keptMs.delivered);
  return run(ctx.db, removeDone, { delivered, failed: toTimestamp(ctx.now() - keptMs.failed) });
}
