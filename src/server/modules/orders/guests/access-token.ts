import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { byId, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { notFound } from "../../../errors.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { requireStore } from "../input.ts";
import { bumpOrder, requireOrderId } from "../statements.ts";
import { orders } from "../table.ts";

const raiseVersion = statement(sql`update ${orders} set access_version = access_version + 1 where ${byId(orders)}`);

/** Returns the token with which a guest sees an order. It is computed from the server's key, so it is not stored. */
export function accessToken(
  { vault, tenant }: Pick<Ctx, "vault" | "tenant">,
  id: string,
  accessVersion: number,
): string {
  return vault.mac("order", `${tenant.id}:${id}:${accessVersion}`);
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

// Matches the JSON of a guest's new order. In the JSON of a dry run, the number is null, so it does not match.
const guestOrder = /^\{"id":"(ord_\w+)","number":\d+,"user_id":null,/;

/** Adds the access token to the reply with a guest's new order. The token is not in the stored reply. */
export function withAccessToken(ctx: Ctx, json: string): string {
  const [, id] = guestOrder.exec(json) ?? [];
  return id === undefined ? json : `${json.slice(0, -1)},"access_token":"${accessToken(ctx, id, 1)}"}`;
}
