import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { isRefusal, type Provider, repeatableMs } from "./provider.ts";

const ofCheckout = byId(checkouts);
const selectCheckout = statement((q) => q.select().from(checkouts).where(ofCheckout));
const isOpen = and(ofStore(checkouts), equals(checkouts.orderId, "orderId"), eq(checkouts.state, "open"));
const selectOpen = statement((q) => q.select().from(checkouts).where(isOpen));
// The request names the buyer's address, and is needed only until the page is known.
const savePage = statement((q) =>
  q
    .update(checkouts)
    .set({ ...params("sessionId", "url"), request: "{}" })
    .where(and(ofCheckout, sql`state = 'open' and session_id is null`)),
);
const fail = statement(sql`
  update ${checkouts} set state = 'failed', error = ${param("error")}, request = '{}', next_check_at = null
  where ${ofCheckout} and state = 'open' and session_id is null`);

export type CheckoutRow = NonNullable<(typeof selectCheckout)["row"]>;

type FindCtx = Pick<Ctx, "db" | "tenant">;

export const findCheckout = (ctx: FindCtx, id: string) => get(ctx.db, selectCheckout, { tenantId: ctx.tenant.id, id });
export const findOpen = (ctx: FindCtx, orderId: string) =>
  get(ctx.db, selectOpen, { tenantId: ctx.tenant.id, orderId });

/**
 * Returns a checkout with its page, which is opened unless it is known. The row becomes `failed` if the provider
 * refuses. Errors: unavailable, wrongState.
 */
export async function openPage(ctx: Ctx, provider: Provider, row: CheckoutRow): Promise<CheckoutRow> {
  if (row.sessionId !== null) return row;
  const values = { tenantId: ctx.tenant.id, id: row.id };
  try {
    const isOld = ctx.now() - Date.parse(row.createdAt) > repeatableMs;
    const opened = isOld ? await provider.find(row) : await provider.open(row);
    if (!opened) throw wrongState("The provider has no page of this checkout.");
    await run(ctx.db, savePage, { ...values, ...opened });
  } catch (error) {
    // After its own attempts to repeat it, the provider answers a request that it failed with the same failure.
    const status = (error as { cause?: { statusCode?: number } }).cause?.statusCode ?? 0;
    const { message } = error as Error;
    if (isRefusal(error) || status >= 500) await run(ctx.db, fail, { ...values, error: message });
    throw error;
  }
  return (await get(ctx.db, selectCheckout, values)) as CheckoutRow;
}
