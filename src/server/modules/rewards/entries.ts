import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { type WorkCtx, workThrough } from "../tenants/work.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

/** SQL condition: rows of the user. */
export const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;

/** Prefix of sources given by callers, so that they cannot collide with the product's own sources. */
export const givenPrefix = "given:";
/** Prefix of the source of entries without one. */
export const ownPrefix = "entry:";

/** SQL for a ledger entry as JSON text, in the order of the API. */
export const entryJson = sql.raw(`json_object('id', id, 'user_id', user_id, 'kind', kind, 'points', points,
  'balance', balance, 'source', case substr(source, 1, 6) when '${givenPrefix}' then substr(source, 7)
    when '${ownPrefix}' then null else source end,
  'order_id', order_id, 'note', note, 'created_at', created_at)`);

/** The part of a transaction's context that booking needs. */
export type LedgerCtx = Pick<Ctx, "db" | "tenant" | "now">;

/** A balance after a booking. */
export interface Written {
  balance: number;
  version: number;
}

/** A ledger entry to write. */
export interface Entry {
  id: string;
  userId: string;
  kind: "earn" | "redeem" | "reverse" | "expire" | "adjust";
  /** Negative if it reduces the balance. */
  points: number;
  balance: number;
  source: string;
  orderId?: string | undefined;
  note?: string | null | undefined;
  /** For spent points, when the last of them would have expired. */
  expiresAt?: string | null;
}

const raiseBalance = statement<Written>(sql`
  insert into ${rewardBalances} (tenant_id, user_id, balance, updated_at)
  values (${param("tenantId")}, ${param("userId")}, ${param("points")}, ${param("now")})
  on conflict (tenant_id, user_id) do update set balance = balance + excluded.balance, version = version + 1,
    updated_at = excluded.updated_at
  returning balance, version`);
const insertRow = statement<{ sequence: number }>(sql`
  insert into ${rewardEntries} (id, tenant_id, user_id, kind, points, balance, source, order_id, note,
    expires_at, created_at)
  values (${param("id")}, ${param("tenantId")}, ${param("userId")}, ${param("kind")}, ${param("points")},
    ${param("balance")}, ${param("source")}, ${param("orderId")}, ${param("note")},
    ${param("expiresAt")}, ${param("now")})
  returning sequence`);

/** Adds points to a balance. */
export async function addToBalance(tx: LedgerCtx, userId: string, points: number): Promise<Written> {
  const values = { tenantId: tx.tenant.id, userId, points, now: toTimestamp(tx.now()) };
  const written = await get(tx.db, raiseBalance, values);
  if (!written) throw new Error("Writing a balance returned no row");
  return written;
}

/** Writes a ledger entry and returns its sequence. A source that was booked before violates the unique index. */
export async function writeEntry(tx: LedgerCtx, entry: Entry): Promise<number> {
  const { orderId = null, note = null, expiresAt = null, ...others } = entry;
  const values = { ...others, orderId, note, expiresAt, tenantId: tx.tenant.id, now: toTimestamp(tx.now()) };
  const row = await get(tx.db, insertRow, values);
  if (!row) throw new Error("Writing an entry returned no row");
  return row.sequence;
}

const batchSize = 100;

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
