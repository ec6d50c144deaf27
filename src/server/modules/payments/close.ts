import type { Ctx } from "../../context.ts";
import { isCustomer, isPage } from "../orders/input.ts";
import { requireOwn } from "./access.ts";
import { openProvider, requireAccount } from "./accounts.ts";
import { findOpen, openPage } from "./pages.ts";
import { reconcile } from "./reconcile.ts";

/**
 * Closes the page on which an order can be paid, before something changes what is due. A payment that was made on it is
 * booked. Errors: unavailable if the provider does not answer; wrongState if it refuses.
 */
export async function closeCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const open = await findOpen(ctx, orderId);
  if (!open) return;
  const provider = openProvider(ctx, await requireAccount(ctx));
  const row = await openPage(ctx, provider, open);
  if (row.sessionId !== null) await provider.close(row.sessionId);
  await reconcile(ctx, row);
}

/** As `closeCheckout`, for a caller who may change the order. Errors: also notFound. */
export async function closeOwnCheckout(ctx: Ctx, orderId: string): Promise<void> {
  if (isCustomer(ctx) || isPage(ctx)) await requireOwn(ctx, orderId);
  await closeCheckout(ctx, orderId);
}
