import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, bind, byId, param, params, statement } from "../../db/statement.ts";
import { inDryRun } from "../../db/transaction.ts";
import { invalidField, wrongState } from "../../errors.ts";
import { checkNote } from "../../values/fields.ts";
import { formatMinor, parseMoney, toAmount } from "../../values/money.ts";
import { newId } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { moveStock } from "../catalogue/products/stock.ts";
import { releaseDiscount } from "../discounts/use.ts";
import { reversePoints } from "../rewards/ledger.ts";
import { dueOf, shareOf } from "./amounts.ts";
import { endAttention } from "./attention/attention.ts";
import type { RefundInput } from "./change-model.ts";
import { changeOrder, type OrderChange, returnSpentPoints } from "./commit-transition.ts";
import { computeFulfillment } from "./fulfillments/fulfillments.ts";
import { currentStatus, updateSums } from "./payments.ts";
import { type OrderRow, ofOrder, selectLines } from "./read.ts";
import { planLines } from "./refund-lines.ts";
import { orderStateError } from "./statements.ts";
import { orderLines, orderRefunds, orders, payments } from "./table.ts";

const selectShipping = statement((q) =>
  q
    .select({ refunded: sql<number>`coalesce(sum(shipping_minor), 0)` })
    .from(orderRefunds)
    .where(sql`${ofOrder} and state <> 'failed'`),
);
/** Selects how much of each payment is not refunded yet. Payments of providers come first. */
const selectPayments = statement((q) =>
  q
    .select({
      ...pick(payments, "id", "provider"),
      left: sql<number>`amount_minor - coalesce((select sum(r.amount_minor) from ${orderRefunds} r
        where r.payment_id = ${payments}.id and r.state <> 'failed'), 0)`,
    })
    .from(payments)
    .where(sql`${ofOrder} and currency = ${param("currency")}`)
    .orderBy(sql`provider = 'manual'`, payments.id),
);
const refundLine = statement(sql`
  update ${orderLines} set refunded_quantity = refunded_quantity + ${param("quantity")},
    cancelled_quantity = cancelled_quantity + ${param("cancelled")}, refunded_minor = refunded_minor + ${param("amount")},
    restocked_quantity = restocked_quantity + ${param("restocked")}
  where ${ofOrder} and id = ${param("lineId")}`);
export const insertRefund = statement((q) =>
  q.insert(orderRefunds).values({
    ...{ id: param("refundId"), orderId: param("id"), createdAt: param("now") },
    ...params("tenantId", "amountMinor", "shippingMinor", "creditedMinor", "paymentId", "lines", "reason"),
    ...params("pointsReturned", "pointsReversed", "state", "providerId", "partOf", "retryOf"),
  }),
);
const noPoints: Points = { pointsReturned: 0, pointsReversed: 0 };
/** The fields of a refund that has no points, shipping and lines, and no id at a provider. */
export const moneyOnly = {
  ...{ ...noPoints, shippingMinor: 0, lines: "[]" },
  ...{ reason: null, providerId: null, partOf: null, retryOf: null },
};
const changed = params("pointsReturned", "pointsReversed", "status", "paymentStatus", "cancelledAt");
const updateOrder = statement((q) => q.update(orders).set(changed).where(byId(orders)));

type Plan = Awaited<ReturnType<typeof planRefund>>;
type Points = Pick<OrderRow, "pointsReturned" | "pointsReversed">;

/**
 * Refunds lines, shipping or an amount of an order. Without any of these, refunds everything that was not refunded yet.
 * @throws notFound, preconditionFailed, validationFailed; wrongState for more than was received or can be refunded.
 */
export function refundOrder(
  ctx: Ctx,
  id: string,
  input: RefundInput = {},
  { ifMatch = null, isDryRun = false }: { ifMatch?: number | null; isDryRun?: boolean } = {},
): Promise<Rendered> {
  if (isDryRun) return inDryRun(ctx, (tx) => refundOrder(tx, id, input, { ifMatch }));
  const reason = checkNote("reason", input.reason ?? null, 500);
  return changeOrder(ctx, id, ifMatch, async (tx, order, values) => {
    requirePaid(order);
    const plan = await planRefund(tx, order, input);
    // After all money was refunded, pieces that cost nothing can still be refunded.
    if (order.paymentStatus === "refunded" && plan.lines.length === 0) {
      throw wrongState(`Order ${id} is already fully refunded.`);
    }
    const refundId = newId("ref");
    const points = await movePoints(tx, refundId, order, plan);
    const whole = { ...points, refundId, partOf: null, shippingMinor: plan.shipping, lines: linesText(order, plan) };
    let credited = plan.credited;
    const inserts = (await splitOverPayments(tx, order, plan.amount)).map((part, index) => {
      // Each part credits its own share, because a provider may refuse one of the parts.
      const creditedMinor = Math.min(credited, part.amountMinor);
      credited -= creditedMinor;
      const row = { ...moneyOnly, refundId: newId("ref"), partOf: refundId, ...values, ...part, creditedMinor, reason };
      return bind(insertRefund, { ...row, ...(index === 0 && whole) });
    });
    await tx.db.batch(inserts);
    const after = await afterRefund(tx, order, { plan, points, now: values.now });
    if (after.refundedMinor === order.receivedMinor) await endAttention(tx, id, ["late_payment", "partial_payment"]);
    const restocked = plan.lines.filter((line) => line.restocked > 0);
    const items = restocked.map(({ item, restocked: quantity }) => ({ ...item, quantity }));
    return {
      event: "order.refunded",
      first: [
        ...plan.lines.map((line) => bind(refundLine, { ...values, ...line })),
        bind(updateOrder, { ...after, ...values }),
        ...(after.status === "paid" ? [bind(computeFulfillment, values)] : []),
        ...(after.status === order.status ? [] : [releaseDiscount(tx, id)]),
        ...moveStock(tx, "restock", items, "restock"),
      ],
      mail: mailOf(order, after, refundId),
    };
  });
}

/** Chooses the mail: about the refund if money was refunded; else about the cancellation, if there was one. */
function mailOf(order: OrderRow, after: OrderRow, refundId: string): OrderChange["mail"] {
  if (after.refundedMinor > order.refundedMinor) return ["order_refunded", refundId];
  return after.status !== order.status && after.status === "cancelled" ? ["order_cancelled"] : undefined;
}

function requirePaid({ id, status, receivedMinor, totalMinor }: OrderRow): void {
  if (receivedMinor === 0 && !(totalMinor === 0 && status !== "pending")) {
    throw orderStateError(id, status, "paid orders can be refunded");
  }
}

/** Plans a refund in minor units. `credited` excludes surplus money, and is 0 for an order that was never paid. */
async function planRefund(tx: Ctx, order: OrderRow, input: RefundInput) {
  const values = { tenantId: tx.tenant.id, id: order.id };
  const [lines, [shipped]] = await Promise.all([all(tx.db, selectLines, values), all(tx.db, selectShipping, values)]);
  const isAll = input.lines === undefined && input.shipping === undefined && input.amount === undefined;
  // An order that was never paid in full has no lines or shipping to refund. Only the received money can be refunded.
  const isLate = order.paidAt === null;
  if (isLate && (input.lines ?? input.shipping) !== undefined) {
    throw orderStateError(order.id, order.status, "the money received for it can be refunded");
  }
  const planned = planLines(lines, input, isAll && !isLate);
  const goods = planned.lines.reduce((sum, line) => sum + line.amount, 0);
  const shippingTotal = order.shippingMinor + (order.pricesIncludeTax ? 0 : order.shippingTaxMinor);
  const shippingLeft = shippingTotal - (shipped?.refunded ?? 0);
  const left = order.receivedMinor - order.refundedMinor;
  const rest = { shipping: isLate ? 0 : Math.min(shippingLeft, Math.max(left - goods, 0)), amount: left };
  const { shipping, amount } = isAll ? rest : askedAmounts(order, input, { goods, shippingLeft, left });
  // A plain amount is taken from surplus money first. Lines and shipping are credited, but at most what the order costs
  // now, because their value may already have been refunded as a plain amount.
  const surplus = Math.min(Math.max(-dueOf(order), 0), isAll ? amount : amount - goods - shipping);
  const credited = isLate ? 0 : Math.min(amount - surplus, order.totalMinor - order.creditedMinor);
  return { ...planned, shipping, amount, credited };
}

function askedAmounts(order: OrderRow, input: RefundInput, of: Record<"goods" | "shippingLeft" | "left", number>) {
  const { currency, currencyDigits: digits } = order;
  const read = (field: "shipping" | "amount") => parseMoney(field, input[field] ?? 0, digits);
  const show = (minor: number) => `${formatMinor(minor, digits)} ${currency}`;
  const shipping = read("shipping");
  if (shipping > of.shippingLeft) throw wrongState(`At most ${show(of.shippingLeft)} of shipping can be refunded.`);
  const amount = of.goods + shipping + read("amount");
  if (amount > of.left) throw wrongState(`At most ${show(of.left)} of order ${order.id} can be refunded.`);
  if (amount === 0 && input.lines === undefined) throw invalidField("amount", "must be above zero");
  return { shipping, amount };
}

/**
 * Splits an amount into refunds of the order's payments, each at most the unrefunded part of its payment. A free order
 * gets a refund of 0. A refund that a provider must make begins as `requested`, which reserves its amount.
 */
async function splitOverPayments(tx: Ctx, { id, currency }: OrderRow, amount: number) {
  const parts: { paymentId: string | null; amountMinor: number; state: "requested" | "succeeded" }[] = [];
  let left = amount;
  for (const payment of await all(tx.db, selectPayments, { tenantId: tx.tenant.id, id, currency })) {
    const amountMinor = Math.min(left, payment.left);
    const state = payment.provider === "manual" ? "succeeded" : "requested";
    if (amountMinor > 0) parts.push({ paymentId: payment.id, amountMinor, state });
    left -= amountMinor;
  }
  if (left > 0) throw new Error("The payments of an order are less than what it received.");
  return parts.length > 0 ? parts : [{ paymentId: null, amountMinor: 0, state: "succeeded" }];
}

function linesText({ currencyDigits }: OrderRow, { lines }: Plan): string {
  return JSON.stringify(
    lines.map(({ lineId, quantity, amount, restocked }) => ({
      ...{ line_id: lineId, quantity, amount: toAmount(amount, currencyDigits), amount_minor: amount },
      restock: restocked > 0,
    })),
  );
}

/** Returns the order after its refund. A refund of all pieces cancels the order, unless something was sent. */
async function afterRefund(
  tx: Ctx,
  order: OrderRow,
  made: { plan: Plan; points: Points; now: string },
): Promise<OrderRow> {
  const { plan, points, now } = made;
  const after = await updateSums(tx, order.id);
  const ofFree = plan.isWhole ? "refunded" : "partially_refunded";
  const isCancelled = plan.isWhole && order.status === "paid" && order.fulfillmentStatus === "unfulfilled";
  return {
    ...after,
    paymentStatus: order.totalMinor === 0 ? ofFree : await currentStatus(tx, after, false),
    pointsReturned: order.pointsReturned + points.pointsReturned,
    pointsReversed: order.pointsReversed + points.pointsReversed,
    ...(isCancelled && { status: "cancelled", cancelledAt: now }),
  };
}

/** Returns used points to the customer, and takes back earned points, as far as the balance allows. */
async function movePoints(tx: Ctx, refundId: string, order: OrderRow, plan: Plan): Promise<Points> {
  const { id: orderId, userId } = order;
  if (userId === null) return noPoints;
  // Points pay for goods only, so they are returned with the goods. Orders earn points, so a credit takes some back.
  const returnable = shareOf(order.pointsUsed, plan.refundedGoods, order.subtotalMinor);
  const reversible = shareOf(order.pointsEarned, order.creditedMinor + plan.credited, order.totalMinor);
  const pointsReturned = Math.max(returnable - order.pointsReturned, 0);
  const points = Math.max(reversible - order.pointsReversed, 0);
  const source = `order:${orderId}:refund:${refundId}`;
  const returning = { userId, orderId, points: pointsReturned, source: `${source}:return`, cause: refundId };
  if (pointsReturned > 0) await returnSpentPoints(tx, returning, order.pointsReturned);
  const reversing = { userId, orderId, points, source: `${source}:reverse` };
  return { pointsReturned, pointsReversed: points > 0 ? await reversePoints(tx, reversing) : 0 };
}
