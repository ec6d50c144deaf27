import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { byId, get, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { notFound } from "../../../errors.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { sameHash } from "../../app-keys/lookup.ts";
import { requireStore } from "../input.ts";
import { bumpOrder, requireOrderId } from "../statements.ts";
import { orders } from "../table.ts";

/** A token opens an order for this long after the order's last change. */
const validMs = 180 * 86_400_000;

const selectAccess = statement((q) =>
  q.select({ accessVersion: orders.accessVersion, updatedAt: orders.updatedAt }).from(orders).where(byId(orders)),
);
const raiseVersion = statement(sql`update ${orders} set access_version = access_version + 1 where ${byId(orders)}`);

/** The token with which a guest sees an order. It is computed, so nothing secret is stored. */
export function accessToken(
  { vault, tenant }: Pick<Ctx, "vault" | "tenant">,
  id: string,
  accessVersion: number,
): string {
  return vault.mac("order", `${tenant.id}:${id}:${accessVersion}`);
}

/** Errors: notFound unless the request carries the order's token, so that nobody can find out which orders exist. */
export async function requireAccess(ctx: Ctx, id: string): Promise<void> {
  const row = await get(ctx.db, selectAccess, { tenantId: ctx.tenant.id, id });
  const isRecent = row !== undefined && Date.parse(row.updatedAt) > ctx.now() - validMs;
  const given = Buffer.from(ctx.orderToken ?? "");
  if (!isRecent || !sameHash(given, Buffer.from(accessToken(ctx, id, row.accessVersion)))) throw notFound("order", id);
}

/** Ends all tokens of an order. Errors: notFound. */
export function revokeAccess(ctx: Ctx, id: string): Promise<void> {
  requireStore(ctx);
  requireOrderId(id);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
    if ((await run(tx.db, raiseVersion, values)) === 0) throw notFound("order", id);
    await run(tx.db, bumpOrder, values);
  });
}

/** Adds a guest's token to the reply with a new order, whose access version is 1. Stored replies do not contain it. */
export function withAccessToken(ctx: Ctx, json: string): string {
  const {
    id,
    user_id: userId,
    number,
  } = JSON.parse(json) as { id: string; user_id: string | null; number: number | null };
  if (userId !== null || number === null) return json;
  return `${json.slice(0, -1)},"access_token":"${accessToken(ctx, id, 1)}"}`;
}
