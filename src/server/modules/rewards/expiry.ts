import { sql } from "drizzle-orm";
import { all, bind, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { tenants } from "../tenants/table.ts";
import { tenantForWork, type WorkCtx, workThrough } from "../tenants/work.ts";
import type { LedgerCtx } from "./entries.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

const batchSize = 100;

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const isDue = sql`remaining > 0 and expires_at is not null and expires_at <= ${param("now")}`;
const selectDueLots = statement<{ sequence: number; remaining: number; balance: number | null }>(sql`
  select sequence, remaining, (select balance from ${rewardBalances} where ${ofUser}) as balance
  from ${rewardLots} where ${ofUser} and ${isDue} order by sequence`);
const insertExpiries = statement(sql`
  insert into ${rewardEntries} (id, tenant_id, user_id, kind, points, balance, source, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("userId")}, 'expire', json_extract(value, '$[1]'),
    json_extract(value, '$[2]'), json_extract(value, '$[3]'), ${param("now")}
  from json_each(${param("rows")}) order by key`);
const lowerBalance = statement(sql`
  update ${rewardBalances} set balance = balance - ${param("points")}, version = version + ${param("count")},
    updated_at = ${param("now")}
  where ${ofUser}`);
const emptyLots = statement(sql`update ${rewardLots} set remaining = 0 where ${ofUser} and ${isDue}`);
const selectDueUsers = statement<{ user_id: string; tenant: string }>(sql`
  select distinct l.user_id, ${tenantForWork} as tenant
  from ${rewardLots} l join ${tenants} t on t.id = l.tenant_id
  where l.remaining > 0 and l.expires_at is not null and l.expires_at <= ${param("now")} limit ${param("max")}`);

/** Expires a user's due lots inside a transaction; also before points are spent, if the background job is late. */
export async function expireLots(tx: LedgerCtx, userId: string): Promise<void> {
  const base = { tenantId: tx.tenant.id, userId, now: toTimestamp(tx.now()) };
  const lots = await all(tx.db, selectDueLots, base);
  if (lots.length === 0) return;
  const before = lots[0]?.balance ?? 0;
  let left = before;
  const rows = lots.map(({ sequence, remaining }) => {
    left -= remaining;
    return [newId("rwd"), -remaining, left, `lot:${sequence}:expire`];
  });
  await tx.db.batch([
    bind(insertExpiries, { ...base, rows: JSON.stringify(rows) }),
    bind(lowerBalance, { ...base, points: before - left, count: lots.length }),
    bind(emptyLots, base),
  ]);
}

/** Expires due points of a batch of users, each in its own transaction. Returns how many users; 0 when none is left. */
export async function expireDuePoints(ctx: WorkCtx): Promise<number> {
  const due = await all(ctx.db, selectDueUsers, { now: toTimestamp(ctx.now()), max: batchSize });
  return workThrough(ctx, due, async (work, { user_id: userId }) => {
    await inTransaction(work, (tx) => expireLots(tx, userId));
    return true;
  });
}
