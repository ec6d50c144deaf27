import { and, sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../context.ts";
import { isCheckViolation } from "../../db/db-errors.ts";
import { all, bind, byId, equals, get, ofStore, param, params, statement } from "../../db/statement.ts";
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
import { earnPoints, pointsFor, spendPoints } from "../rewards/ledger.ts";
import { endAttention, needAttention } from "./attention/attention.ts";
import type { PaymentInput } from "./change-model.ts";
import { commitTransition, selectCounted } from "./commit-transition.ts";
import { requireStore } from "./input.ts";
import { getOrder, type OrderRow, requireRow } from "./read.ts";
import { requireOrderId } from "./statements.ts";
import { orders, payments } from "./table.ts";

const insertPayment = statement((q) =>
  q.insert(payments).values({
    ...params("tenantId", "provider", "reference", "amountMinor", "currency", "receivedAt", "recordedBy"),
    ...{ id: param("paymentId"), orderId: param("id"), createdAt: param("now") },
  }),
);
const selectBooked = statement((q) =>
  q
    .select({ orderId: payments.orderId })
    .from(payments)
    .where(and(ofStore(payments), equals(payments.provider, "provider"), equals(payments.reference, "reference"))),
);
const addReceived = statement(sql`
  update ${orders} set received_minor = received_minor + ${param("amountMinor")} where ${byId(orders)}`);
const states = params("status", "paymentStatus", "paidAt", "pointsEarned");
const setStates = statement((q) => q.update(orders).set(states).where(byId(orders)));

/**
 * Books a payment of an order; repeating a reference changes nothing. Without an amount, it pays what is due.
 * @throws notFound, preconditionFailed, validationFailed; wrongState if nothing is due; conflict for a reference of
 * another order.
 */
export async function payOrder(ctx: Ctx, id: string, input: PaymentInput = {}, ifMatch: number | null = null) {
  requireStore(ctx);
  requireOrderId(id);
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
    await tx.db.batch([bind(insertPayment, values), bind(addReceived, values)]);
    return settle(tx, id);
  });
}

/** Returns 0 only for an unpaid order whose total is 0. New orders of this kind are paid when they are placed. */
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
  const booked = await get(tx.db, selectBooked, { tenantId: tx.tenant.id, provider: "manual", reference });
  if (!booked || booked.orderId === id) return booked !== undefined;
  const other = mayRead(tx, "orders:read") ? booked.orderId : undefined;
  throw fieldError(conflict, field, "belongs to another order", { id: other });
}

/** The amount that is still to be paid, in minor units; below zero if too much was received. */
export function dueOf(
  order: Pick<OrderRow, "totalMinor" | "creditedMinor" | "receivedMinor" | "refundedMinor">,
): number {
  return order.totalMinor - order.creditedMinor - order.receivedMinor + order.refundedMinor;
}

/** Computes the payment status of an order from the sums of its payments and refunds. */
export function paymentStatusOf(order: Parameters<typeof dueOf>[0]): OrderRow["paymentStatus"] {
  const { receivedMinor: received, refundedMinor: returned, creditedMinor: credited } = order;
  if (received > 0 && returned === received) return "refunded";
  if (dueOf(order) > 0) return received === 0 ? "unpaid" : "partially_paid";
  return credited > 0 ? "partially_refunded" : "paid";
}

/**
 * Updates the status of an order after a payment. The order is paid once nothing is due. An expired order becomes
 * paid only if its stock, points and code are all still available. Returns the order.
 */
export async function settle(tx: Ctx, id: string): Promise<Rendered> {
  const order = await requireRow(tx, id);
  const due = dueOf(order);
  const isPaid = due <= 0 && (order.status === "pending" || (order.status === "expired" && (await retake(tx, order))));
  const isLate = !isPaid && (order.status === "expired" || order.status === "cancelled");
  if (isPaid) await endAttention(tx, id, ["partial_payment", "late_payment"]);
  if (isLate) await needAttention(tx, id, "late_payment");
  if (due >= 0) await endAttention(tx, id, ["overpaid"]);
  else if (!isLate) await needAttention(tx, id, "overpaid");
  const paymentStatus = paymentStatusOf(order);
  if (!isPaid) {
    return commitTransition(tx, id, { event: "order.updated", first: [bind(setStates, { ...order, paymentStatus })] });
  }
  const paid = { status: "paid", paymentStatus, paidAt: toTimestamp(tx.now()), pointsEarned: await earn(tx, order) };
  const first = [bind(setStates, { ...order, ...paid })];
  return commitTransition(tx, id, { event: "order.paid", stock: ["commit", "pay"], first });
}

async function earn(tx: Ctx, { id, userId, totalMinor }: OrderRow): Promise<number> {
  const points = userId === null ? 0 : pointsFor(totalMinor, tx.tenant);
  if (userId !== null && points > 0) {
    await earnPoints(tx, { userId, points, source: `order:${id}:earn`, orderId: id });
  }
  return points;
}

/** Reserves stock, points and code of an expired order again. Returns false if they are not all available. */
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
      const code = discountCode === null ? [] : retakeDiscount(tx, discountCode, id, { userId, emailKey });
      await tx.db.batch([...moveStock(tx, "reserve", counted, "order"), ...code]);
    });
    return true;
  } catch (error) {
    if (error instanceof AppError ? error.kind !== "unavailable" : isCheckViolation(error)) return false;
    throw error;
  }
}
