import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { rewardBalances, rewardEntries } from "./table.ts";

/** What booking needs: a transaction, whose store, and when. */
export type LedgerCtx = Pick<Ctx, "db" | "tenant" | "now">;

/** A balance as a booking left it. */
export interface Written {
  balance: number;
  version: number;
}

/** One row of the ledger, before it has its place. */
export interface Entry {
  id: string;
  userId: string;
  kind: "earn" | "redeem" | "reverse" | "expire" | "adjust";
  /** Negative where it takes. */
  points: number;
  /** The balance after it. */
  balance: number;
  source: string;
  orderId?: string | undefined;
  note?: string | null | undefined;
  /** Of points that are spent: when the last of them would have expired. */
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

/** Adds points to a balance, which begins at none. */
export async function addToBalance(tx: LedgerCtx, userId: string, points: number): Promise<Written> {
  const values = { tenantId: tx.tenant.id, userId, points, now: toTimestamp(tx.now()) };
  const written = await get(tx.db, raiseBalance, values);
  if (!written) throw new Error("A balance was written and returned no row");
  return written;
}

/**
 * Writes one row of the ledger; a source that is booked already breaks the unique index.
 * @returns its sequence.
 */
export async function writeEntry(tx: LedgerCtx, entry: Entry): Promise<number> {
  const { orderId = null, note = null, expiresAt = null, ...others } = entry;
  const values = { ...others, orderId, note, expiresAt, tenantId: tx.tenant.id, now: toTimestamp(tx.now()) };
  const row = await get(tx.db, insertRow, values);
  if (!row) throw new Error("An insert returned no row");
  return row.sequence;
}
