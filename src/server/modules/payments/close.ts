import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { ofStore, param, run, statement } from "../../db/statement.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { isCustomer, isPage } from "../orders/input.ts";
import { requireOwn } from "./access.ts";
import { openProvider, requireAccount } from "./accounts.ts";
import { findOpen, openPage } from "./pages.ts";
import { isRefusal } from "./provider.ts";
import { reconcile } from "./reconcile.ts";

/**
 * Closes the page on which an order can be paid, before something changes what is due. A payment that was made on it is
 * booked. Errors: unavailable if the provider does not answer; wrongState if it refuses.
 */
export async function closeCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const open = await findOpen(ctx, orderId);
  if (!open) return;
  const provider = openProvider(ctx, await requireAccount(ctx));
  // A page that the provider refuses to open needs no closing.
  const row = await openPage(ctx, provider, open).catch((error: unknown) => {
    if (isRefusal(error)) return undefined;
    throw error;
  });
  if (row?.sessionId == null) return;
  await provider.close(row.sessionId);
  await reconcile(ctx, row);
}

const expireOpen = statement((q) =>
  q
    .update(checkouts)
    .set({ state: "expired" })
    .where(sql`${ofStore(checkouts)} and order_id = ${param("orderId")} and state = 'open'`),
);

/** Treats the page of an order as closed in a transaction that is rolled back, to try what comes after it. */
export async function assumeClosed(tx: Ctx, orderId: string): Promise<void> {
  await run(tx.db, expireOpen, { tenantId: tx.tenant.id, orderId });
}

/** As `closeCheckout`, for a caller who may change the order. Errors: also notFound. */
export async function closeOwnCheckout(ctx: Ctx, orderId: string): Promise<void> {
  if (isCustomer(ctx) || isPage(ctx)) await requireOwn(ctx, orderId);
  await closeCheckout(ctx, orderId);
}
