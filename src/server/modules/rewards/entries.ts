import type { InStatement } from "@libsql/core/api";
import { and, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Ctx, WorkCtx } from "../../context.ts";
import { all, bind, ofUser, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { workThrough } from "../tenants/service.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

/** Prefixes of sources, so that customers, the store and the program cannot use up each other's. */
export const customerPrefix = "customer:";
export const storePrefix = "store:";
export const ownPrefix = "entry:";

export const entryJson = sql.raw(`json_object('id', id, 'user_id', user_id, 'kind', kind, 'points', points,
  'balance', balance, 'source', case substr(source, 1, instr(source, ':')) when '${ownPrefix}' then null
    when '${customerPrefix}' then substr(source, ${customerPrefix.length + 1})
    when '${storePrefix}' then substr(source, ${storePrefix.length + 1}) else source end,
  'order_id', order_id, 'note', note, 'created_at', created_at)`);

export type LedgerCtx = Pick<Ctx, "db" | "tenant" | "now">;

interface Entries {
  userId: string;
  kind: "earn" | "redeem" | "reverse" | "expire" | "adjust";
  /** Points are negative if the entry reduces the balance. Values after the source are not part of the entry. */
  rows: readonly (readonly [id: string, points: number, balance: number, source: string, ...more: unknown[]])[];
  orderId?: string | undefined;
  note?: string | null | undefined;
  /** If an order spends points: JSON of the lots that they come from. */
  lots?: string | null;
}

const insertEntries = statement(sql`
  insert into ${rewardEntries} (id, tenant_id, user_id, kind, points, balance, source, order_id, note, lots, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("userId")}, ${param("kind")},
    json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'), ${param("orderId")},
    ${param("note")}, ${param("lots")}, ${param("now")}
  from json_each(${param("rows")}) order by key`);

export function writeEntries(tx: LedgerCtx, entries: Entries): InStatement {
  const { orderId = null, note = null, lots = null, userId, kind } = entries;
  const row = { tenantId: tx.tenant.id, userId, kind, orderId, note, lots, now: toTimestamp(tx.now()) };
  return bind(insertEntries, { ...row, rows: JSON.stringify(entries.rows) });
}

const batchSize = 100;

const { sequence, userId, remaining } = rewardLots;
const isDue = sql`remaining > 0 and expires_at is not null and expires_at <= ${param("now")}`;
const isDueOfUser = and(ofUser(rewardLots), isDue);
const balance = sql<number | null>`(select balance from ${rewardBalances} where ${ofUser(rewardBalances)})`;
const selectDueLots = statement((q) =>
  q.select({ sequence, remaining, balance }).from(rewardLots).where(isDueOfUser).orderBy(sequence),
);
const lower = { balance: sql`balance - ${param("points")}`, version: sql`version + ${param("count")}` };
const lowered = { ...lower, updatedAt: param("now") };
const lowerBalance = statement((q) => q.update(rewardBalances).set(lowered).where(ofUser(rewardBalances)));
const emptyLots = statement((q) => q.update(rewardLots).set({ remaining: 0 }).where(isDueOfUser));
const t = alias(tenants, "t");
const tenant = sql<string>`${tenantForWork}`;
const selectDueUsers = statement((q) => {
  const due = q.selectDistinct({ userId, tenant }).from(rewardLots).innerJoin(t, eq(t.id, rewardLots.tenantId));
  return due.where(isDue).limit(batchSize);
});

/** Expires due lots, in a transaction. Also called before points are spent, because the background job may be late. */
export async function expireLots(tx: LedgerCtx, userId: string): Promise<void> {
  const base = { tenantId: tx.tenant.id, userId, now: toTimestamp(tx.now()) };
  const lots = await all(tx.db, selectDueLots, base);
  if (lots.length === 0) return;
  const before = lots[0]?.balance ?? 0;
  let left = before;
  const rows = lots.map(({ sequence, remaining }) => {
    left -= remaining;
    return [newId("rwd"), -remaining, left, `lot:${sequence}:expire`] as const;
  });
  await tx.db.batch([
    writeEntries(tx, { userId, kind: "expire", rows }),
    bind(lowerBalance, { ...base, points: before - left, count: lots.length }),
    bind(emptyLots, base),
  ]);
}

/** Expires due points, in one transaction per user. Returns the number of users; 0 when none is left. */
export async function expireDuePoints(ctx: WorkCtx): Promise<number> {
  const due = await all(ctx.db, selectDueUsers, { now: toTimestamp(ctx.now()) });
  return workThrough(ctx, due, async (work, { userId }) => {
    await inTransaction(work, (tx) => expireLots(tx, userId));
    return true;
  });
}
