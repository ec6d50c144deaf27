import { sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../context.ts";
import { byId, get, isVersion, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { canBePaid } from "./checkouts/table.ts";
import { releaseOrder } from "./commit-transition.ts";
import { isCustomer, isPage, ownOnly } from "./input.ts";
import { requireAccess, requireRow } from "./read.ts";
import { refundOrder } from "./refund.ts";
import { orderStateError, requireOrderId, visible } from "./statements.ts";
import { orders } from "./table.ts";

const cancelPending = statement(sql`
  update ${orders} set status = 'cancelled', cancelled_at = ${param("now")}
  where ${byId(orders)} and ${visible} and status = 'pending' and received_minor = refunded_minor and ${isVersion(orders)}
    and not ${canBePaid("orders.id")}`);
const selectPayable = statement(sql`select 1 from ${orders} where ${byId(orders)} and ${canBePaid("orders.id")}`);

/**
 * Cancels a pending order. If the order is paid in part, only staff can cancel it, and the money is refunded.
 * @throws notFound, preconditionFailed; wrongState for other orders, and while a payment page of the order is open.
 */
export async function cancelOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<Rendered> {
  requireOrderId(id);
  if (isPage(ctx) && !mayRead(ctx, "orders:write")) await requireAccess(ctx, id);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, own: ownOnly(ctx), now: toTimestamp(tx.now()), ifMatch };
    if ((await run(tx.db, cancelPending, values)) > 0) return releaseOrder(tx, id, "cancel");
    const { userId, version, status } = await requireRow(tx, id);
    if (values.own !== null && userId !== values.own) throw notFound("order", id);
    if (ifMatch !== null && version !== ifMatch) throw preconditionFailed();
    if (status !== "pending") throw orderStateError(id, status, "pending orders can be cancelled");
    if (await get(tx.db, selectPayable, values)) {
      const remedy = "Cancel it after the payment has ended.";
      throw wrongState(`Order ${id} is being paid on a payment page.`, { remedy });
    }
    if (isCustomer(ctx) || isPage(ctx)) {
      throw wrongState(`Order ${id} is paid in part. Staff can cancel it and refund what was received.`);
    }
    await refundOrder(tx, id);
    return cancelOrder(tx, id);
  });
}
