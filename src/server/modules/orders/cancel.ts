import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { canBePaid } from "./checkouts/table.ts";
import { releaseOrder } from "./commit-transition.ts";
import { isCustomer, isPage, ownOnly } from "./input.ts";
import { requireAccess, requireRow } from "./read.ts";
import { refundOrder } from "./refund.ts";
import { orderStateError } from "./statements.ts";
import { orders } from "./table.ts";

const setCancelled = statement(sql`
  update ${orders} set status = 'cancelled', cancelled_at = ${param("now")} where ${byId(orders)}`);
const selectPayable = statement(sql`select 1 from ${orders} where ${byId(orders)} and ${canBePaid("orders.id")}`);

/**
 * Cancels a pending order. If the order is paid in part, only staff can cancel it, and the money is refunded.
 * @throws notFound, preconditionFailed; wrongState for other orders, and while a payment page of the order is open.
 */
export async function cancelOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<Rendered> {
  if (isPage(ctx)) await requireAccess(ctx, id);
  return inTransaction(ctx, async (tx) => {
    const { userId, version, status, receivedMinor, refundedMinor } = await requireRow(tx, id);
    if (![null, userId].includes(ownOnly(ctx))) throw notFound("order", id);
    if (ifMatch !== null && version !== ifMatch) throw preconditionFailed();
    if (status !== "pending") throw orderStateError(id, status, "pending orders can be cancelled");
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
    if (await get(tx.db, selectPayable, values)) {
      const remedy = "Cancel it after the payment has ended.";
      throw wrongState(`Order ${id} is being paid on a payment page.`, { remedy });
    }
    const isPartlyPaid = receivedMinor > refundedMinor;
    if (isPartlyPaid && (isCustomer(ctx) || isPage(ctx))) {
      throw wrongState(`Order ${id} is paid in part. Staff can cancel it and refund what was received.`);
    }
    if (isPartlyPaid) await refundOrder(tx, id);
    await run(tx.db, setCancelled, values);
    return releaseOrder(tx, id, "cancel");
  });
}
