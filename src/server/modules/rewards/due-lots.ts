import { sql } from "drizzle-orm";
import { toTimestamp } from "../../clock.ts";
import type { SystemCtx, Tenant } from "../../context.ts";
import { all, get, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId } from "../../ids.ts";
import { tenants } from "../tenants/table.ts";
import { tenantForWork } from "../tenants/work.ts";
import { type LedgerCtx, type Written, writeEntry } from "./entries.ts";
import { rewardBalances, rewardLots } from "./table.ts";

const param = sql.placeholder;
const portion = 100;

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const isDue = sql`remaining > 0 and expires_at is not null and expires_at <= ${param("now")}`;
const selectDueLots = statement<{ sequence: number; remaining: number }>(sql`
  select sequence, remaining from ${rewardLots} where ${ofUser} and ${isDue} order by sequence`);
const emptyLot = statement(sql`
  update ${rewardLots} set remaining = 0 where sequence = ${param("sequence")} and remaining = ${param("remaining")}`);
const lowerBalance = statement<Written>(sql`
  update ${rewardBalances} set balance = balance - ${param("points")}, version = version + 1,
    updated_at = ${param("now")}
  where ${ofUser} returning balance, version`);
const selectDueUsers = statement<{ user_id: string; tenant: string }>(sql`
  select distinct l.user_id, ${tenantForWork} as tenant
  from ${rewardLots} l join ${tenants} t on t.id = l.tenant_id
  where l.remaining > 0 and l.expires_at is not null and l.expires_at <= ${param("now")} limit ${param("portion")}`);

/**
 * Books what is left of a user's lots that have had their time, one entry a lot, inside a transaction. Called before
 * anything is spent, so that a late sweep makes nobody richer.
 */
export async function expireDueLots(tx: LedgerCtx, userId: string): Promise<number> {
  const base = { tenantId: tx.tenant.id, userId, now: toTimestamp(tx.now()) };
  const lots = await all(tx.db, selectDueLots, base);
  for (const { sequence, remaining } of lots) {
    await run(tx.db, emptyLot, { sequence, remaining });
    const left = await get(tx.db, lowerBalance, { ...base, points: remaining });
    if (!left) throw new Error("A lot has no balance beside it");
    const source = `lot:${sequence}:expire`;
    await writeEntry(tx, {
      id: newId("rwd"),
      userId,
      kind: "expire",
      points: -remaining,
      balance: left.balance,
      source,
    });
  }
  return lots.length;
}

/**
 * Books points that have had their time, for a portion of the users who have such, each in a transaction of its own.
 * @returns of how many users; none when there is nothing left to do.
 */
export async function expireDuePoints(ctx: Pick<SystemCtx, "db" | "now">): Promise<number> {
  const due = await all(ctx.db.primary, selectDueUsers, { now: toTimestamp(ctx.now()), portion });
  for (const { user_id: userId, tenant } of due) {
    const work = { ...ctx, tenant: JSON.parse(tenant) as Tenant };
    await inTransaction(work, (tx) => expireDueLots(tx, userId));
  }
  return due.length;
}
