import { and, sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../context.ts";
import { isCheckViolation } from "../../db/db-errors.ts";
import { pick } from "../../db/selection.ts";
import { all, bind, byId, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inSavepoint, inTransaction } from "../../db/transaction.ts";
import { AppError, conflict, fieldError, invalidField, preconditionFailed, wrongState } from "../../errors.ts";
import { requireText } from "../../values/fields.ts";
import { parseMoney } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { readTime } from "../../values/units.ts";
import { actorId } from "../audit/service.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { findItems, moveStock, type WantedItem } from "../catalogue/products/stock.ts";
import { retakeDiscount } from "../discounts/use.ts";
import type { EventType } from "../events/model.ts";
import { earnPoints, pointsFor, spendPoints } from "../rewards/ledger.ts";
import { dueOf } from "./amounts.ts";
import { endAttention, needAttention } from "./attention/attention.ts";
import type { PaymentInput } from "./change-model.ts";
import { isProcessing } from "./checkouts/table.ts";
import { commitTransition, type OrderChange, selectCounted } from "./commit-transition.ts";
import { requireStore } from "./input.ts";
import { getOrder, type OrderRow, requireRow } from "./read.ts";
import type { OrderCtx } from "./statements.ts";
import { orderRefunds, orders, payments } from "./table.ts";

export const insertPayment = statement((q) =>
  q
    .insert(payments)
    .values({
      ...params("tenantId", "provider", "reference", "amountMinor", "currency", "receivedAt", "recordedBy"),
      ...{ id: param("paymentId"), orderId: param("id"), createdAt: param("now") },
    })
    .onConflictDoNothing(),
);
const selectBooked = statement((q) =>
  q
    .select(pick(payments, "orderId", "provider"))
    .from(payments)
    .where(and(ofStore(payments), equals(payments.reference, "reference")))
    .orderBy(payments.provider),
);
// Payments in another currency are not part of the received sum.
const refunded = (column: string) => sql`(select coalesce(sum(${sql.raw(column)}), 0) from ${orderRefunds} r
  where r.order_id = ${orders}.id and r.state <> 'failed')`;
const sumUp = statement(sql`
  update ${orders} set refunded_minor = ${refunded("amount_minor")}, credited_minor = ${refunded("credited_minor")},
    received_minor = (select coalesce(sum(amount_minor), 0) from ${payments} p
      where p.order_id = ${orders}.id and p.currency = ${orders}.currency)
  where ${byId(orders)}`);
const selectProcessing = statement(sql`select 1 from ${orders} where ${byId(orders)} and ${isProcessing("orders.id")}`);
const states = params("status", "paymentStatus", "paidAt", "pointsEarned");
const setStates = statement((q) => q.update(orders).set(states).where(byId(orders)));

/**
 * Books a payment of an order, by default of the amount due. A reference that was booked before is not booked again.
 * @throws notFound, preconditionFailed, validationFailed; wrongState if nothing is due; conflict for a reference of
 * another order.
 */
export async function payOrder(ctx: Ctx, id: string, input: PaymentInput = {}, ifMatch: number | null = null) {
  requireStore(ctx);
  const given = input.reference ?? input.payment_reference;
  const field = input.reference === undefined ? "payment_reference" : "reference";
  if (given !== (input.payment_reference ?? given)) throw invalidField("payment_reference", "differs from reference");
  const reference = given === undefined ? null : requireText(field, given, 200);
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, id);
    if (reference !== null && (await isBooked(tx, order, reference, field))) return getOrder(tx, id);
    if (ifMatch !== null && order.version !== ifMatch) throw preconditionFailed();
    const amountMinor = amountOf(order, input.amount);
    if (amountMinor === 0) return settle(tx, id);
    const receivedAt = input.received_at === undefined ? toTimestamp(tx.now()) : timeOf(input.received_at, tx.now());
    const values = {
      ...{ tenantId: tx.tenant.id, id, paymentId: newId("pay"), now: toTimestamp(tx.now()) },
      ...{ provider: "manual", reference, amountMinor, currency: order.currency, receivedAt },
      recordedBy: actorId(tx.actor),
    };
    await run(tx.db, insertPayment, values);
    return settle(tx, id);
  });
}

/** Returns a payment's amount in minor units. It is 0 if nothing is due for a pending order. */
function amountOf(order: OrderRow, given: PaymentInput["amount"]): number {
  const amount = given === undefined ? Math.max(dueOf(order), 0) : parseMoney("amount", given, order.currencyDigits);
  if (amount > 0 || (given === undefined && order.status === "pending")) return amount;
  throw given === undefined
    ? wrongState(`Nothing is due for order ${order.id}.`)
    : invalidField("amount", "must be above zero");
}

function timeOf(text: string, now: number): string {
  const time = readTime(text);
  if (time === undefined || time > now + 86_400_000) throw invalidField("received_at", "must be a past time or day");
  return toTimestamp(time);
}

async function isBooked(tx: Ctx, { id }: OrderRow, reference: string, field: string): Promise<boolean> {
  const booked = await get(tx.db, selectBooked, { tenantId: tx.tenant.id, reference });
  if (!booked || (booked.orderId === id && booked.provider === "manual")) return booked !== undefined;
  const isOwn = booked.orderId === id;
  const other = !isOwn && mayRead(tx, "orders:read") ? booked.orderId : undefined;
  const message = isOwn ? `is a payment that ${booked.provider} has reported already` : "belongs to another order";
  throw fieldError(conflict, field, message, { id: other });
}

/** Computes the payment status of an order from the sums of its payments and refunds. */
function paymentStatusOf(order: Parameters<typeof dueOf>[0]): OrderRow["paymentStatus"] {
  const { receivedMinor: received, refundedMinor: returned, creditedMinor: credited } = order;
  if (received > 0 && returned === received) return "refunded";
  if (dueOf(order) > 0) return received === 0 ? "unpaid" : "partially_paid";
  return credited > 0 ? "partially_refunded" : "paid";
}

/**
 * Updates the status of an order after a payment, and returns the order. The order is paid once nothing is due. An
 * expired order is paid if its stock, points and code are all available again.
 * @param mayPay false for a payment that staff must check first.
 */
export async function settle(tx: Ctx, id: string, mayPay = true): Promise<Rendered> {
  const order = await updateSums(tx, id);
  const isPaid =
    mayPay &&
    dueOf(order) <= 0 &&
    (order.status === "pending" || (order.status === "expired" && (await retake(tx, order))));
  const isLate = !isPaid && (order.status === "expired" || order.status === "cancelled");
  if (isPaid) await endAttention(tx, id, ["partial_payment", "late_payment"]);
  if (isLate) await needAttention(tx, id, "late_payment");
  const paymentStatus = await currentStatus(tx, order, !isLate);
  if (!isPaid) return commitTransition(tx, id, { event: "order.updated", first: setStatus(order, { paymentStatus }) });
  const times = { paidAt: toTimestamp(tx.now()), pointsEarned: await earn(tx, order) };
  const first = setStatus(order, { status: "paid", paymentStatus, ...times });
  return commitTransition(tx, id, { event: "order.paid", stock: ["commit", "pay"], first, mail: ["order_paid"] });
}

/** Updates the payment status of an order after a change of its refunds or payment pages. Returns the order. */
export async function refreshPaymentStatus(
  tx: OrderCtx,
  id: string,
  event: EventType,
  mail?: OrderChange["mail"],
): Promise<Rendered> {
  const order = await updateSums(tx, id);
  const paymentStatus = await currentStatus(tx, order, order.paidAt !== null);
  return commitTransition(tx, id, { event, first: setStatus(order, { paymentStatus }), mail });
}

/** Computes the sums of an order's payments and refunds again, and returns the order. */
export async function updateSums(tx: OrderCtx, id: string): Promise<OrderRow> {
  await run(tx.db, sumUp, { tenantId: tx.tenant.id, id });
  return requireRow(tx, id);
}

const setStatus = (order: OrderRow, changed: Partial<OrderRow>) => [bind(setStates, { ...order, ...changed })];

/** Returns the payment status. Asks staff about surplus money if `mayBeOverpaid`. Without any, ends that question. */
export async function currentStatus(tx: OrderCtx, order: OrderRow, mayBeOverpaid: boolean) {
  if (dueOf(order) >= 0) await endAttention(tx, order.id, ["overpaid"]);
  else if (mayBeOverpaid) await needAttention(tx, order.id, "overpaid");
  const isUndecided =
    dueOf(order) > 0 && (await get(tx.db, selectProcessing, { tenantId: tx.tenant.id, id: order.id }));
  return isUndecided ? "payment_processing" : paymentStatusOf(order);
}

async function earn(tx: Ctx, { id, userId, totalMinor }: OrderRow): Promise<number> {
  const points = userId === null ? 0 : pointsFor(totalMinor, tx.tenant);
  if (userId !== null && points > 0) {
    await earnPoints(tx, { userId, points, source: `order:${id}:earn`, orderId: id });
  }
  return points;
}

/** Takes stock, points and code for an expired order again. Returns false, and takes nothing, if one is missing. */
async function retake(tx: Ctx, order: OrderRow): Promise<boolean> {
  const { id, userId, pointsUsed: points, discountCode, emailKey } = order;
  try {
    await inSavepoint(tx, async () => {
      const rows = await all(tx.db, selectCounted, { tenantId: tx.tenant.id, id });
      const wanted = rows.map((row, index): WantedItem => ({ ...row, field: `items.${index}` }));
      const items = wanted.length === 0 ? [] : await findItems(tx, wanted);
      const counted = items.filter(({ isCounted }) => isCounted);
      if (points > 0 && userId !== null) {
        await spendPoints(tx, { userId, points, source: `order:${id}:redeem:late`, orderId: id });
      }
      const code = discountCode === null ? [] : [retakeDiscount(tx, discountCode, id, { userId, emailKey })];
      await tx.db.batch([...moveStock(tx, "reserve", counted, "order"), ...code]);
    });
    return true;
  } catch (error) {
    if (error instanceof AppError ? error.kind !== "unavailable" : isCheckViolation(error)) return false;
    throw error;
  }
}
