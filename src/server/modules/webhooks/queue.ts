import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import type { Answer } from "../../delivery/channel.ts";
import { type Claim, claimStatements, isClaimed, isDue, leaseMs, releaseParams } from "../../delivery/claim.ts";
import type { Source } from "../../delivery/scheduler.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { events } from "../events/table.ts";
import { tenants } from "../tenants/table.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const dayMs = 86_400_000;
const keptMs = { delivered: 7 * dayMs, failed: 30 * dayMs };
const selectReady = statement<{ id: string; tenant_id: string }>(sql`
  select w.id, w.tenant_id from ${webhooks} w join ${tenants} t on t.id = w.tenant_id
  where t.status = 'active' and exists(select 1 from ${webhookDeliveries} where webhook_id = w.id and ${isDue})
  order by w.id`);
// Found and leased in one statement, so that no two processes can claim the same delivery.
const claimNext = statement<{ id: string; attempts: number; lease: string }>(sql`
  update ${webhookDeliveries}
  set attempts = attempts + 1, next_attempt_at = ${param("lease")}, leased_until = ${param("lease")}
  where id = (select id from ${webhookDeliveries} where webhook_id = ${param("webhookId")} and ${isDue}
    order by next_attempt_at, event limit 1)
    and exists(select 1 from ${tenants} t where t.id = tenant_id and t.status = 'active')
  returning id, attempts, leased_until as lease`);
const selectTask = statement<Omit<DeliveryTask, keyof Claim>>(sql`
  select w.id as webhook_id, w.url, w.secret, w.allow_private, t.namespace, d.created_at, e.id as event_id, e.type,
    e.subject, e.data, e.created_at as event_at
  from ${webhookDeliveries} d join ${webhooks} w on w.id = d.webhook_id join ${tenants} t on t.id = d.tenant_id
  left join ${events} e on e.sequence = d.event and e.tenant_id = d.tenant_id
  where d.id = ${param("id")}`);
const postpone = statement(sql`
  update ${webhookDeliveries} set next_attempt_at = ${param("next")}, last_status = ${param("status")},
    last_error = ${param("error")}, leased_until = null
  where ${isClaimed}`);
const { markDelivered, end, release } = claimStatements(webhookDeliveries, "delivered");
const removeDone = statement(sql`
  delete from ${webhookDeliveries} where id in (select id from ${webhookDeliveries}
    where (status = 'delivered' and finished_at <= ${param("delivered")})
      or (status = 'failed' and finished_at <= ${param("failed")}) limit 1000)`);

type Context = Pick<SystemCtx, "db" | "now">;

/** A claimed delivery with all that an attempt needs, as it is now. */
export interface DeliveryTask extends Claim {
  webhook_id: string;
  url: string;
  /** Sealed. */
  secret: string;
  allow_private: number;
  namespace: string;
  created_at: string;
  /** Null, as the rest of the event, once the event is purged. */
  event_id: string | null;
  type: string;
  subject: string;
  data: string;
  event_at: string;
}

/** The webhooks that have deliveries due; without webhooks that reads one empty table. */
export async function listReady(ctx: Context): Promise<Source[]> {
  const rows = await all(ctx.db, selectReady, { now: toTimestamp(ctx.now()) });
  return rows.map(({ id, tenant_id }) => ({ key: id, tenantId: tenant_id, pool: 0, receiver: id }));
}

/** Claims the delivery of a webhook that has been due the longest; undefined if none is, or its store is suspended. */
export async function claimDelivery(ctx: Context, webhookId: string): Promise<DeliveryTask | undefined> {
  const at = ctx.now();
  const lease = toTimestamp(at + leaseMs);
  const claim = await get(ctx.db, claimNext, { webhookId, now: toTimestamp(at), lease });
  const task = claim && (await get(ctx.db, selectTask, { id: claim.id }));
  return claim && task && { ...task, ...claim };
}

/** Records that a delivery has arrived. */
export async function recordDelivered(ctx: Context, { id }: Claim, { status }: Pick<Answer, "status">): Promise<void> {
  await run(ctx.db, markDelivered, { id, status, now: toTimestamp(ctx.now()) });
}

/** Lets a delivery wait for its next attempt. @param next epoch milliseconds. */
export async function reschedule(ctx: Context, claim: Claim, next: number, answer: Answer): Promise<void> {
  const { status, error } = answer;
  await run(ctx.db, postpone, { id: claim.id, lease: claim.lease, next: toTimestamp(next), status, error });
}

/** Ends a delivery that did not arrive. */
export async function recordFailed(
  ctx: Context,
  { id, lease }: Claim,
  { status, error }: Pick<Answer, "status" | "error">,
): Promise<void> {
  await run(ctx.db, end, { id, lease, outcome: "failed", status, error, now: toTimestamp(ctx.now()) });
}

/** Releases claims, each until its `next` (epoch milliseconds); the attempts do not count. */
export async function releaseDeliveries(ctx: Context, claims: { task: Claim; next: number }[]): Promise<void> {
  await run(ctx.db, release, releaseParams(claims));
}

/** Removes deliveries that arrived a week ago or failed thirty days ago, at most a thousand a call. Returns how many. */
export function purgeDeliveries(ctx: Context): Promise<number> {
  const delivered = toTimestamp(ctx.now() - keptMs.delivered);
  return run(ctx.db, removeDone, { delivered, failed: toTimestamp(ctx.now() - keptMs.failed) });
}
