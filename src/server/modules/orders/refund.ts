import { and, eq, inArray, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, byId, get, isVersion, ofStore, param, params, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { fieldError, invalidField, notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { checkNote } from "../../values/fields.ts";
import { toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { moveStock } from "../catalogue/products/stock.ts";
import { reversePoints } from "../rewards/ledger.ts";
import { shareOf } from "./amounts.ts";
import { requireStore } from "./input.ts";
import type { RefundInput } from "./model.ts";
import { bumpVersion, orderStateError, requireOrderId, selectState } from "./statements.ts";
import { orderLines, orderRefunds, orders } from "./table.ts";
import { commitTransition, returnSpentPoints } from "./transition.ts";

// Changes nothing if the order has another state or version.
const isPaid = inArray(orders.paymentStatus, ["paid", "partially_refunded"]);
const isRefundable = and(byId(orders), isPaid, isVersion(orders));
const lockOrder = statement((q) => q.update(orders).set(bumpVersion).where(isRefundable).returning());
const ofOrder = and(ofStore(orderLines), eq(orderLines.orderId, param("id")));
const selectLines = statement((q) => q.select().from(orderLines).where(ofOrder).orderBy(orderLines.position));
const refundLine = statement(sql`
  update ${orderLines} set refunded_quantity = refunded_quantity + ${param("quantity")},
    refunded_minor = refunded_minor + ${param("amount")}, restocked_quantity = restocked_quantity + ${param("restocked")}
  where ${ofOrder} and id = ${param("lineId")}`);
const newRefund = {
  ...{ id: param("refundId"), orderId: param("id"), createdAt: param("now") },
  ...params("tenantId", "amountMinor", "lines", "reason", "pointsReturned", "pointsReversed"),
};
const insertRefund = statement((q) => q.insert(orderRefunds).values(newRefund));
const updateOrder = statement(sql`
  update ${orders} set refunded_minor = refunded_minor + ${param("amountMinor")},
    points_returned = points_returned + ${param("pointsReturned")},
    points_reversed = points_reversed + ${param("pointsReversed")},
    payment_status = case when ${param("isFull")} then 'refunded' else 'partially_refunded' end,
    cancelled_at = case when ${param("isFull")} and status = 'paid' then ${param("now")} else cancelled_at end,
    status = case when ${param("isFull")} and status = 'paid' then 'cancelled' else status end
  where ${byId(orders)}`);

export async function refundOrder(
  ctx: Ctx,
  id: string,
  input: RefundInput = {},
  { ifMatch = null, isDryRun = false }: { ifMatch?: number | null; isDryRun?: boolean } = {},
): Promise<Rendered> {
  requireStore(ctx);
  requireOrderId(id);
  const reason = checkNote("reason", input.reason ?? null, 500);
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()), ifMatch };
    const order = await get(tx.db, lockOrder, values);
    if (!order) throw await cannotRefund(tx, values);
    const lines = await all(tx.db, selectLines, values);
    const plan = planRefund(lines, order.totalMinor - order.refundedMinor, input);
    const refundId = newId("ref");
    const points = await movePoints(tx, refundId, order, plan);
    const refunded = plan.lines.map(({ lineId, quantity, amount, restocked }) => ({
      ...{ line_id: lineId, quantity },
      ...{ amount: toAmount(amount, order.currencyDigits), amount_minor: amount },
      restock: restocked > 0,
    }));
    const refund = {
      ...values,
      ...points,
      ...{ refundId, amountMinor: plan.amount, lines: JSON.stringify(refunded), reason },
    };
    const restocked = plan.lines
      .filter((line) => line.restocked > 0)
      .map(({ item, restocked: quantity }) => ({ ...item, quantity }));
    return commitTransition(tx, id, {
      event: "order.refunded",
      first: [
        ...plan.lines.map((line) => bind(refundLine, { ...values, ...line })),
        bind(insertRefund, refund),
        bind(updateOrder, { ...refund, isFull: plan.isFull ? 1 : 0 }),
        ...moveStock(tx, "restock", restocked, "restock"),
      ],
    });
  });
}

async function cannotRefund(tx: Ctx, values: { tenantId: string; id: string; ifMatch: number | null }) {
  const { id, ifMatch } = values;
  const state = await get(tx.db, selectState, { ...values, own: null });
  if (!state) return notFound("order", id);
  if (ifMatch !== null && state.version !== ifMatch) return preconditionFailed();
  if (state.paymentStatus === "refunded") return wrongState(`Order ${id} is already fully refunded.`);
  return orderStateError(id, state.status, "paid orders can be refunded");
}

/** Reverses earned points that the customer still has. A later refund or return reverses spent ones. */
async function movePoints(
  tx: Ctx,
  refundId: string,
  order: typeof orders.$inferSelect,
  plan: ReturnType<typeof planRefund>,
) {
  const { id: orderId, userId } = order;
  if (userId === null) return { pointsReturned: 0, pointsReversed: 0 };
  // Points can pay for goods only, but all that is paid earns points.
  const returnable = shareOf(order.pointsUsed, plan.refundedGoods, order.subtotalMinor);
  const reversible = shareOf(order.pointsEarned, order.refundedMinor + plan.amount, order.totalMinor);
  const pointsReturned = Math.max(returnable - order.pointsReturned, 0);
  const points = Math.max(reversible - order.pointsReversed, 0);
  const source = `order:${orderId}:refund:${refundId}`;
  const returning = { userId, orderId, points: pointsReturned, source: `${source}:return`, cause: refundId };
  if (pointsReturned > 0) await returnSpentPoints(tx, returning, order.pointsReturned);
  const reversing = { userId, orderId, points, source: `${source}:reverse` };
  return { pointsReturned, pointsReversed: points > 0 ? await reversePoints(tx, reversing) : 0 };
}

type Row = typeof orderLines.$inferSelect;
export type PaidLine = Pick<Row, "id" | "productId" | "variantId" | "title" | "sku" | "quantity" | "isCounted"> &
  Pick<Row, "subtotalMinor" | "totalMinor" | "refundedQuantity" | "refundedMinor">;

/** Plans a refund of given lines, else of everything `left` (minor units). Errors: validationFailed, wrongState. */
export function planRefund(
  lines: readonly PaidLine[],
  left: number,
  { lines: asked, restock: isRestocked = false }: RefundInput,
) {
  const quantities = asked ? askedQuantities(lines, asked) : new Map(lines.map((line) => [line.id, remaining(line)]));
  const planned = lines
    .filter((line) => (quantities.get(line.id) ?? 0) > 0)
    .map((line) => {
      const quantity = quantities.get(line.id) as number;
      const amount = shareOf(line.totalMinor, line.refundedQuantity + quantity, line.quantity) - line.refundedMinor;
      const item = { productId: line.productId, variantId: line.variantId };
      return { lineId: line.id, item, quantity, amount, restocked: isRestocked && line.isCounted ? quantity : 0 };
    });
  const amount = asked ? planned.reduce((sum, line) => sum + line.amount, 0) : left;
  const after = (line: PaidLine) => line.refundedQuantity + (quantities.get(line.id) ?? 0);
  return {
    amount,
    lines: planned,
    isFull: amount === left && lines.every((line) => after(line) === line.quantity),
    refundedGoods: lines.reduce((sum, line) => sum + shareOf(line.subtotalMinor, after(line), line.quantity), 0),
  };
}

function remaining(line: PaidLine): number {
  return line.quantity - line.refundedQuantity;
}

function askedQuantities(lines: readonly PaidLine[], asked: NonNullable<RefundInput["lines"]>) {
  const known = new Map(lines.map((line) => [line.id, line]));
  const quantities = new Map<string, number>();
  for (const [index, { line_id: id, quantity }] of asked.entries()) {
    const line = known.get(id);
    if (!line) throw invalidField(`lines.${index}.line_id`, "is not a line of this order");
    if (quantities.has(id)) throw invalidField(`lines.${index}.line_id`, "is repeated");
    if (!Number.isInteger(quantity) || quantity < 1) {
      throw invalidField(`lines.${index}.quantity`, "must be a whole number of at least 1");
    }
    if (quantity > remaining(line)) {
      const excess = `is ${quantity}, but ${remaining(line)} of ${line.sku ?? line.title} can be refunded`;
      throw fieldError(wrongState, `lines.${index}.quantity`, excess);
    }
    quantities.set(id, quantity);
  }
  return quantities;
}
