import { and } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, byId, equals, get, ofStore, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, wrongState } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { endAttention } from "../orders/attention/attention.ts";
import { requireStore } from "../orders/input.ts";
import { refreshPaymentStatus } from "../orders/payments.ts";
import { requireRow } from "../orders/read.ts";
import { orderRefunds, payments } from "../orders/table.ts";
import { addUp, insertRow, leftOf } from "./refunds.ts";

const selectRefund = statement((q) => q.select().from(orderRefunds).where(byId(orderRefunds)));
const selectRepeated = statement((q) =>
  q
    .select({ id: orderRefunds.id })
    .from(orderRefunds)
    .where(and(ofStore(orderRefunds), equals(orderRefunds.retryOf, "id"))),
);
const selectPayment = statement((q) => q.select().from(payments).where(byId(payments)));

/**
 * Requests the money of a failed refund again, as a new refund, because a provider remembers the old one.
 * @throws notFound, preconditionFailed; wrongState unless it has failed, was not repeated, and the payment still has it.
 */
export function retryRefund(
  ctx: Ctx,
  { id: orderId, refund_id: id }: { id: string; refund_id: string },
  ifMatch: number | null = null,
): Promise<Rendered> {
  requireStore(ctx);
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, orderId, ifMatch);
    const tenantId = tx.tenant.id;
    const failed = await get(tx.db, selectRefund, { tenantId, id });
    if (failed?.orderId !== orderId) throw notFound("refund", id);
    // The row of a dispute that was won after all has no error.
    if (failed.state !== "failed" || failed.error === null) throw wrongState(`Refund ${id} has not failed.`);
    if (await get(tx.db, selectRepeated, { tenantId, id })) throw wrongState(`Refund ${id} was repeated already.`);
    const payment = await get(tx.db, selectPayment, { tenantId, id: failed.paymentId });
    if (!payment || (await leftOf(tx, payment)) < failed.amountMinor) {
      throw wrongState(`The payment of refund ${id} was given back otherwise.`);
    }
    const { amountMinor, shippingMinor, paymentId, reason } = failed;
    const creditedMinor = Math.min(failed.creditedMinor, order.totalMinor - order.creditedMinor);
    const values = { tenantId, id: newId("ref"), orderId, now: toTimestamp(tx.now()) };
    const row = { ...values, amountMinor, shippingMinor, creditedMinor, paymentId, reason };
    await tx.db.batch([
      bind(insertRow, { ...row, state: "requested", providerId: null, retryOf: id }),
      bind(addUp, values),
    ]);
    await endAttention(tx, orderId, ["refund_failed"]);
    return refreshPaymentStatus(tx, orderId, "order.refunded");
  });
}
