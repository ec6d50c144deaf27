import { and, eq, sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../context.ts";
import { byId, get, isVersion, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { changedColumns, releaseOrder } from "./commit-transition.ts";
import { requireAccess } from "./guests/access-token.ts";
import { isCustomer, isPage, ownOnly } from "./input.ts";
import { refundOrder } from "./refund.ts";
import { bumpVersion, orderStateError, requireOrderId, selectState, visible } from "./statements.ts";
import { orders } from "./table.ts";

const cancelPending = statement((q) =>
  q
    .update(orders)
    .set({ status: "cancelled", cancelledAt: param("now"), ...bumpVersion })
    .where(
      and(byId(orders), visible, eq(orders.status, "pending"), sql`received_minor = refunded_minor`, isVersion(orders)),
    )
    .returning(changedColumns),
);

/**
 * Cancels an order that is not paid. What came for one that is paid in part is refunded with it, by staff only.
 * @throws notFound, preconditionFailed; wrongState.
 */
export async function cancelOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<Rendered> {
  requireOrderId(id);
  if (isPage(ctx) && !mayRead(ctx, "orders:write")) await requireAccess(ctx, id);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, own: ownOnly(ctx), now: toTimestamp(tx.now()), ifMatch };
    const order = await get(tx.db, cancelPending, values);
    if (order) return releaseOrder(tx, order, "cancel");
    const state = await get(tx.db, selectState, values);
    if (state?.status === "pending" && !isCustomer(ctx) && !isPage(ctx)) {
      await refundOrder(tx, id, {}, { ifMatch });
      return cancelOrder(tx, id);
    }
    if (!state) throw notFound("order", id);
    if (ifMatch !== null && state.version !== ifMatch) throw preconditionFailed();
    if (state.status === "pending")
      throw wrongState(`Order ${id} is paid in part. Staff can cancel it and refund what was received.`);
    throw orderStateError(id, state.status, "pending orders can be cancelled");
  });
}
