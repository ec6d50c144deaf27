import { and, eq, isNull } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, equals, get, ofStore, params, run, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { isRefusal, type Provider, repeatableMs, statusOf } from "./provider.ts";

const ofCheckout = byId(checkouts);
const selectCheckout = statement((q) => q.select().from(checkouts).where(ofCheckout));
const isOpen = and(ofStore(checkouts), equals(checkouts.orderId, "orderId"), eq(checkouts.state, "open"));
const selectOpen = statement((q) => q.select().from(checkouts).where(isOpen));
export const expireOpen = statement((q) => q.update(checkouts).set({ state: "expired" }).where(isOpen));
const isUnknown = and(ofCheckout, eq(checkouts.state, "open"), isNull(checkouts.sessionId));
// The request names the buyer's address, and is needed only until the page is known.
const page = { ...params("sessionId", "url"), request: "{}" };
const savePage = statement((q) => q.update(checkouts).set(page).where(isUnknown));
const failure = { state: "failed", ...params("error"), request: "{}", nextCheckAt: null } as const;
const fail = statement((q) => q.update(checkouts).set(failure).where(isUnknown));

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
    const opened = await provider.open(row, ctx.now() - Date.parse(row.createdAt) > repeatableMs);
    if (!opened) throw wrongState("The provider has no page of this checkout.");
    await run(ctx.db, savePage, { ...values, ...opened });
  } catch (error) {
    // After its own attempts to repeat it, the provider answers a request that it failed with the same failure.
    const isFinal = isRefusal(error) || ![undefined, 409, 429].includes(statusOf(error));
    if (isFinal) await run(ctx.db, fail, { ...values, error: (error as Error).message });
    throw error;
  }
  return (await get(ctx.db, selectCheckout, values)) as CheckoutRow;
}
