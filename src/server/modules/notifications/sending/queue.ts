import { sql } from "drizzle-orm";
import type { PushPlatform } from "../../../config/push-config.ts";
import type { SystemCtx } from "../../../context.ts";
import { all, bind, param, run, statement } from "../../../db/statement.ts";
import type { Answer } from "../../../delivery/channel.ts";
import { type Claim, claimStatements, isClaimed, isDue, leaseMs, releaseParams } from "../../../delivery/claim.ts";
import type { Source } from "../../../delivery/scheduler.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { tenants } from "../../tenants/table.ts";
import { users } from "../../users/table.ts";
import { pushDeliveries, pushMessages, pushRegistrations } from "../table.ts";
import { isUnproven, pools } from "./fan-out.ts";

const hasDue = (priority: number) =>
  sql`exists(select 1 from ${pushDeliveries} where tenant_id = t.id and priority = ${sql.raw(String(priority))} and ${isDue})`;
/** Where nothing has arrived yet, deliveries without an answer come last: their priority is that of their pool + 2. */
const later = pools.length / 2;
const hasDueNew = (pool: number) => sql`(${hasDue(pool)} or ${hasDue(pool + later)})`;
// Goes from one store that has something waiting to the next, however many deliveries and stores there are; the planner
// would look at all that waits.
const waiting = sql`${pushDeliveries} indexed by push_deliveries_due where status = 'waiting'`;
const selectReady = statement<ReadyStore>(sql`
  with recursive stores(id) as (
    select min(tenant_id) from ${waiting}
    union all
    select (select min(tenant_id) from ${waiting} and tenant_id > stores.id)
    from stores where stores.id is not null
  )
  select t.id, ${hasDue(0)} as orders, ${hasDue(1)} as messages, ${hasDueNew(2)} as newOrders, ${hasDueNew(3)} as newMessages
  from stores s join ${tenants} t on t.id = s.id where t.status = 'active'`);
const dueOf = (priority: string) => sql`select id from (select id from ${pushDeliveries}
  where tenant_id = ${param("tenantId")} and priority = ${param(priority)} and ${isDue}
  order by next_attempt_at limit ${param("max")})`;
// Found and leased in one statement, so that no two processes can claim the same delivery.
const claimNext = statement<{ id: string; attempts: number }>(sql`
  update ${pushDeliveries}
  set attempts = attempts + 1, next_attempt_at = ${param("lease")}, leased_until = ${param("lease")}
  where id in (${dueOf("first")} union all ${dueOf("second")} limit ${param("max")})
    and exists(select 1 from ${tenants} t where t.id = tenant_id and t.status = 'active')
  returning id, attempts`);
const selectTasks = statement<Omit<PushTask, "attempts" | "lease">>(sql`
  select d.id, d.platform, d.tenant_id, m.id as message_id, m.kind, m.content, m.expires_at, r.id as registration_id,
    r.target, r.lang, t.title as store, t.language, coalesce(t.url, 'https://' || t.domain) as store_url,
    m.user_id is null or m.user_id is r.user_id as is_theirs, coalesce(u.status, 'active') = 'active' as is_welcome
  from ${pushDeliveries} d join ${pushMessages} m on m.id = d.message_id join ${tenants} t on t.id = d.tenant_id
  left join ${pushRegistrations} r on r.id = d.registration_id
  left join ${users} u on u.id = r.user_id and u.tenant_id = d.tenant_id
  where d.id in (select value from json_each(${param("ids")}))`);
const markProven = statement(sql`
  update ${pushRegistrations} set is_proven = 1
  where tenant_id = ${param("tenantId")} and id = ${param("registrationId")} and is_proven = 0`);
const postpone = statement(sql`
  update ${pushDeliveries} set next_attempt_at = ${param("next")},
    priority = iif(${param("isSilent")} and priority < ${sql.raw(String(pools.length))},
      priority + ${sql.raw(String(later))}, priority),
    last_status = ${param("status")}, last_error = ${param("error")}, leased_until = null
  where ${isClaimed}`);
const { markDelivered, end, release } = claimStatements(pushDeliveries, "sent");
// Not one that registered again meanwhile: that has sealed its target anew.
const removeGone = statement(sql`
  delete from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and id = ${param("registrationId")} and target = ${param("target")}`);
type Context = Pick<SystemCtx, "db" | "now">;

/** A store, and in which pools it has deliveries due (0 or 1). */
interface ReadyStore {
  id: string;
  orders: number;
  messages: number;
  newOrders: number;
  newMessages: number;
}

/** A claimed delivery with all that an attempt needs, as it is now. */
export interface PushTask extends Claim {
  platform: PushPlatform;
  tenant_id: string;
  message_id: string;
  kind: "order" | "message";
  content: string;
  expires_at: string;
  /** Null, as what is its own, once it is gone. */
  registration_id: string | null;
  /** Sealed. */
  target: string | null;
  lang: string | null;
  store: string;
  language: string;
  store_url: string | null;
  /** 0 when the message is for a user whose device it is not any more. */
  is_theirs: number;
  /** 0 when the device's user is disabled. */
  is_welcome: number;
}

/** The pools of stores that have deliveries due; where nothing waits, that reads one empty index. */
export async function listReady(ctx: Context): Promise<Source[]> {
  const stores = await all(ctx.db, selectReady, { now: toTimestamp(ctx.now()) });
  return stores.flatMap(({ id, orders, messages, newOrders, newMessages }) => {
    const due = [orders, messages, newOrders, newMessages];
    return pools.filter((pool) => due[pool] === 1).map((pool) => ({ key: id, tenantId: id, pool }));
  });
}

/** Claims the deliveries of a store and pool that have been due the longest. */
export async function claimPushes(ctx: Context, { tenantId, pool }: Source, max: number): Promise<PushTask[]> {
  const at = ctx.now();
  const lease = toTimestamp(at + leaseMs);
  const order = { first: pool, second: isUnproven(pool) ? pool + later : null };
  const claims = await all(ctx.db, claimNext, { tenantId, max, ...order, now: toTimestamp(at), lease });
  if (claims.length === 0) return [];
  const ids = JSON.stringify(claims.map(({ id }) => id));
  const attempts = new Map(claims.map((one) => [one.id, one.attempts]));
  const tasks = await all(ctx.db, selectTasks, { ids });
  return tasks.map((task) => ({ ...task, attempts: attempts.get(task.id) ?? 1, lease }));
}

/** Records that a message has arrived, and that its registration receives messages. */
export async function recordSent(ctx: Context, task: PushTask, { status }: Answer): Promise<void> {
  const { id, tenant_id: tenantId, registration_id: registrationId } = task;
  await ctx.db.batch([
    bind(markDelivered, { id, status, now: toTimestamp(ctx.now()) }),
    bind(markProven, { tenantId, registrationId }),
  ]);
}

/**
 * Lets a delivery wait for its next attempt; one without an answer comes last from then on.
 * @param next epoch milliseconds.
 */
export async function reschedule(ctx: Context, { id, lease }: Claim, next: number, answer: Answer): Promise<void> {
  const { status, error } = answer;
  const isSilent = status === null ? 1 : 0;
  await run(ctx.db, postpone, { id, lease, next: toTimestamp(next), isSilent, status, error });
}

/** Ends a delivery that did not arrive. */
export async function endPush(
  ctx: Context,
  { id, lease }: Claim,
  outcome: "failed" | "dropped" | "expired",
  { status, error }: Pick<Answer, "status" | "error">,
): Promise<void> {
  await run(ctx.db, end, { id, lease, outcome, status, error, now: toTimestamp(ctx.now()) });
}

/** Ends a delivery to a target that does not exist any more, and removes its registration. */
export async function recordGone(ctx: Context, task: PushTask, { status, error }: Answer): Promise<void> {
  const { id, lease, tenant_id: tenantId, registration_id: registrationId, target } = task;
  await ctx.db.batch([
    bind(end, { id, lease, outcome: "dropped", status, error, now: toTimestamp(ctx.now()) }),
    bind(removeGone, { tenantId, registrationId, target }),
  ]);
}

/** Releases claims, each until its `next` (epoch milliseconds); the attempts do not count. */
export async function releasePushes(ctx: Context, claims: { task: Claim; next: number }[]): Promise<void> {
  await run(ctx.db, release, releaseParams(claims));
}
