import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { rewardBalances, rewardEntries } from "./table.ts";

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
  /** The balance after it. */
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
