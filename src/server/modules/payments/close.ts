import type { Ctx } from "../../context.ts";
import { run } from "../../db/statement.ts";
import { getOrder } from "../orders/read.ts";
import { requireProvider } from "./accounts.ts";
import { type CheckoutRow, expireOpen, findOpen, openPage } from "./pages.ts";
import { isRefusal } from "./provider.ts";
import { reconcile } from "./reconcile.ts";

/**
 * Closes the page on which an order can be paid, before something changes what is due. A payment that was made on it is
 * booked. Errors: unavailable if the provider does not answer; wrongState if it refuses.
 */
export async function closeCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const open = await findOpen(ctx, orderId);
  if (open) await closePage(ctx, open);
}

/** Closes an open page, and adds what it knows. Errors: as `closeCheckout`. */
export async function closePage(ctx: Ctx, open: CheckoutRow): Promise<void> {
  const provider = await requireProvider(ctx);
  // A page that the provider refuses to open needs no closing.
  const row = await openPage(ctx, provider, open).catch((error: unknown) => {
    if (isRefusal(error)) return undefined;
    throw error;
  });
  if (row?.sessionId == null) return;
  await provider.close(row.sessionId);
  await reconcile(ctx, row);
}

/** Treats the page of an order as closed in a transaction that is rolled back, to try what comes after it. */
export async function assumeClosed(tx: Ctx, orderId: string): Promise<void> {
  await run(tx.db, expireOpen, { tenantId: tx.tenant.id, orderId });
}

/** As `closeCheckout`, for a caller who may see the order. Errors: also notFound. */
export async function closeOwnCheckout(ctx: Ctx, orderId: string): Promise<void> {
  await getOrder(ctx, orderId);
  await closeCheckout(ctx, orderId);
}
