import { sql } from "drizzle-orm";
import type { PushPlatform } from "../../../config/push-config.ts";
import type { SystemCtx } from "../../../context.ts";
import { all, bind, param, run, statement } from "../../../db/statement.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { tenants } from "../../tenants/table.ts";
import { users } from "../../users/table.ts";
import { pushDeliveries, pushMessages, pushRegistrations } from "../table.ts";
import { isUnproven, pools } from "./fan-out.ts";

/** For longer than an attempt can take, nobody else takes a delivery that one sender has taken. */
export const leaseMs = 60_000;
/** Waits between tries to note that a message has arrived: a note that fails means one that arrives twice. */
const noteDelaysMs = [500, 2000, 8000];

const isDue = sql`status = 'waiting' and next_attempt_at <= ${param("now")}`;
const hasDue = (priority: number) =>
  sql`exists(select 1 from ${pushDeliveries} where tenant_id = t.id and priority = ${sql.raw(String(priority))} and ${isDue})`;
/** Where nothing has arrived yet, what got no answer comes after what was not tried: its priority is that of its pool + 2. */
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
  order by next_attempt_at limit ${param("most")})`;
// Found and taken in one statement, so that no two senders can take the same one.
const takeDue = statement<{ id: string; attempts: number }>(sql`
  update ${pushDeliveries}
  set attempts = attempts + 1, next_attempt_at = ${param("lease")}, leased_until = ${param("lease")}
  where id in (${dueOf("first")} union all ${dueOf("second")} limit ${param("most")})
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
const isOurs = sql`id = ${param("id")} and status = 'waiting' and leased_until = ${param("lease")}`;
// Whoever has taken or ended it meanwhile: it has arrived, and should not be sent again.
const markSent = statement(sql`
  update ${pushDeliveries} set status = 'sent', last_status = ${param("status")}, last_error = null,
    leased_until = null, finished_at = ${param("now")}
  where id = ${param("id")} and status in ('waiting', 'failed', 'expired')`);
const markProven = statement(sql`
  update ${pushRegistrations} set is_proven = 1
  where tenant_id = ${param("tenantId")} and id = ${param("registrationId")} and is_proven = 0`);
const postpone = statement(sql`
  update ${pushDeliveries} set next_attempt_at = ${param("next")},
    priority = iif(${param("isSilent")} and priority < ${sql.raw(String(pools.length))},
      priority + ${sql.raw(String(later))}, priority),
    last_status = ${param("status")}, last_error = ${param("error")}, leased_until = null
  where ${isOurs}`);
const endDelivery = statement(sql`
  update ${pushDeliveries} set status = ${param("outcome")}, last_status = ${param("status")},
    last_error = ${param("error")}, leased_until = null, finished_at = ${param("now")}
  where ${isOurs}`);
// Not the one that has registered anew meanwhile: its target is sealed anew.
const removeGone = statement(sql`
  delete from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and id = ${param("registrationId")} and target = ${param("target")}`);
// By id alone; with a status the planner would go through all that waits.
const giveBack = statement(sql`
  update ${pushDeliveries} set next_attempt_at = ${param("next")} ->> id, leased_until = null, attempts = attempts - 1
  where id in (select key from json_each(${param("next")})) and leased_until = ${param("lease")}`);

type Context = Pick<SystemCtx, "db" | "now">;

/** A store, and for what of it something is due (0 or 1). */
export interface ReadyStore {
  id: string;
  orders: number;
  messages: number;
  newOrders: number;
  newMessages: number;
}

/** A delivery that one sender has taken. */
export interface TakenPush {
  id: string;
  attempts: number;
  /** Until then it is this sender's. */
  lease: string;
}

/** The same with all that an attempt needs, as it stands now. */
export interface PushTask extends TakenPush {
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

/** What came of an attempt; `status` is that of the answer, null where there was none. */
export interface PushResult {
  status: number | null;
  error: string;
}

/** The stores that have something due; where nothing waits, that costs one look at an empty index. */
export function listReady(ctx: Context): Promise<ReadyStore[]> {
  return all(ctx.db, selectReady, { now: toTimestamp(ctx.now()) });
}

/** Takes the deliveries of a store and pool that have been due the longest, at most so many. */
export async function takePushes(
  ctx: Context,
  { pool, ...due }: { tenantId: string; pool: number; most: number },
): Promise<PushTask[]> {
  const at = ctx.now();
  const lease = toTimestamp(at + leaseMs);
  const order = { first: pool, second: isUnproven(pool) ? pool + later : null };
  const taken = await all(ctx.db, takeDue, { ...due, ...order, now: toTimestamp(at), lease });
  if (taken.length === 0) return [];
  const ids = JSON.stringify(taken.map(({ id }) => id));
  const attempts = new Map(taken.map((one) => [one.id, one.attempts]));
  const tasks = await all(ctx.db, selectTasks, { ids });
  return tasks.map((task) => ({ ...task, attempts: attempts.get(task.id) ?? 1, lease }));
}

/** Notes that a message has arrived, and that something does where it went; not at the first failure in vain. */
export async function recordSent(ctx: Context, task: PushTask, status: number): Promise<void> {
  const { id, tenant_id: tenantId, registration_id: registrationId } = task;
  const notes = [
    bind(markSent, { id, status, now: toTimestamp(ctx.now()) }),
    bind(markProven, { tenantId, registrationId }),
  ];
  for (const delay of noteDelaysMs) {
    try {
      return void (await ctx.db.batch(notes));
    } catch {
      await Bun.sleep(delay);
    }
  }
  await ctx.db.batch(notes);
}

/**
 * Lets a delivery wait for its next attempt; one that got no answer comes after those that may.
 * @param next epoch milliseconds.
 */
export async function recordDelay(ctx: Context, { id, lease }: TakenPush, next: number, result: PushResult) {
  const isSilent = result.status === null ? 1 : 0;
  await run(ctx.db, postpone, { id, lease, next: toTimestamp(next), isSilent, ...result });
}

/** Ends a delivery that has not arrived. */
export async function recordEnd(
  ctx: Context,
  { id, lease }: TakenPush,
  outcome: "failed" | "dropped" | "expired",
  { status, error }: { status: number | null; error: string | null },
): Promise<void> {
  await run(ctx.db, endDelivery, { id, lease, outcome, status, error, now: toTimestamp(ctx.now()) });
}

/** Ends a delivery to where nobody is any more, and removes the registration. */
export async function recordGone(ctx: Context, task: PushTask, { status, error }: PushResult): Promise<void> {
  const { id, lease, tenant_id: tenantId, registration_id: registrationId, target } = task;
  await ctx.db.batch([
    bind(endDelivery, { id, lease, outcome: "dropped", status, error, now: toTimestamp(ctx.now()) }),
    bind(removeGone, { tenantId, registrationId, target }),
  ]);
}

/** Gives back some of what was taken, each until its `next` (epoch milliseconds); attempts not made do not count. */
export async function returnPushes(ctx: Context, given: { task: TakenPush; next: number }[]): Promise<void> {
  const [first] = given;
  if (!first) return;
  const next = JSON.stringify(Object.fromEntries(given.map(({ task, next }) => [task.id, toTimestamp(next)])));
  await run(ctx.db, giveBack, { next, lease: first.task.lease });
}
