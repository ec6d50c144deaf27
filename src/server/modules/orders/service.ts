import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { isUniqueViolation } from "../../db/db-errors.ts";
import { bind, type CompiledStatement, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { conflict, preconditionFailed, wrongState } from "../../errors.ts";
import { parseFields, pickFields } from "../../pagination/list-query.ts";
import { requireText } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { earnPoints, pointsFor } from "../rewards/ledger.ts";
import { Order, type PaymentInput } from "./model.ts";
import { ownOnly, requireStore } from "./ownership.ts";
import type { RenderedOrder } from "./rendering.ts";
import { type ChangedOrder, changedColumns, endUnpaid, settleOrder } from "./settle.ts";
import { noSuchOrder, requireOrderId, selectOrder, selectState, thisOrder, touched, visible } from "./statements.ts";
import { orders } from "./table.ts";

/** A change of an order that is in the right state, at the version asked for; no other is touched. */
function guardedUpdate(set: SQL, guard: SQL): CompiledStatement<ChangedOrder> {
  return statement<ChangedOrder>(sql`
    update ${orders} set ${set}, ${touched}
    where ${thisOrder} and ${visible} and ${guard} and version = coalesce(${param("ifMatch")}, version)
    returning ${changedColumns}`);
}

const cancelPending = guardedUpdate(sql`status = 'cancelled', cancelled_at = ${param("now")}`, sql`status = 'pending'`);
const payPending = guardedUpdate(
  sql`status = 'paid', payment_status = 'paid', payment_reference = ${param("reference")}, paid_at = ${param("now")}`,
  // Its time may be over before the sweep comes by.
  sql`status = 'pending' and expires_at > ${param("now")}`,
);
const fulfillPaid = guardedUpdate(
  sql`status = 'completed', fulfillment_status = 'fulfilled', fulfilled_at = ${param("now")}`,
  sql`status = 'paid'`,
);
const setEarned = statement(sql`update ${orders} set points_earned = ${param("earned")} where ${thisOrder}`);

/**
 * One order of the tenant; of customers only their own.
 * @param fields names joined by commas; all without it.
 * @throws notFound, validationFailed for a field that orders do not have.
 */
export async function getOrder(ctx: Ctx, id: string, fields?: string): Promise<RenderedOrder> {
  requireOrderId(id);
  const wanted = parseFields(fields, Object.keys(Order.properties));
  const order = await get(ctx.db, selectOrder, { tenantId: ctx.tenant.id, id, own: ownOnly(ctx) });
  if (!order) throw noSuchOrder();
  return { ...order, json: pickFields(order.json, wanted) };
}

/**
 * Cancels an order that is not paid; its pieces can be sold again, and the points it was to be paid with come back.
 * @param ifMatch the version that must stand; null for any.
 * @throws notFound, preconditionFailed, wrongState.
 */
export function cancelOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<RenderedOrder> {
  return change(ctx, cancelPending, id, ifMatch, {}, (tx, order) => endUnpaid(tx, order, "cancel"));
}

/**
 * Says that an order is paid: its pieces leave the stock, and its buyer earns points. The same reference again is
 * answered and not booked again, whatever the version.
 * @param ifMatch the version that must stand; null for any.
 * @throws forbidden for customers, notFound, conflict for a reference of another order, preconditionFailed, wrongState.
 */
export async function payOrder(
  ctx: Ctx,
  id: string,
  input: PaymentInput = {},
  ifMatch: number | null = null,
): Promise<RenderedOrder> {
  requireStore(ctx);
  const reference =
    input.payment_reference === undefined ? null : requireText("payment_reference", input.payment_reference, 200);
  try {
    return await change(ctx, payPending, id, ifMatch, { reference }, bookPayment);
  } catch (error) {
    if (!isUniqueViolation(error, "orders.payment_reference")) throw error;
    const message = "belongs to another order";
    const details = [{ field: "payment_reference", message }];
    throw conflict(`payment_reference: ${message}.`, { details, cause: error });
  }
}

async function bookPayment(tx: Ctx, order: ChangedOrder): Promise<RenderedOrder> {
  const { id, user_id: userId, total_minor: total } = order;
  const points = userId === null ? 0 : pointsFor(total, tx.tenant);
  if (userId !== null && points > 0) {
    await earnPoints(tx, { userId, points, source: `order:${id}:earn`, orderId: id });
  }
  const first = points > 0 ? [bind(setEarned, { tenantId: tx.tenant.id, id, earned: points })] : [];
  return settleOrder(tx, id, { event: "order.paid", stock: ["commit", "pay"], first });
}

/**
 * Says that a paid order has been sent or handed over: it is completed.
 * @param ifMatch the version that must stand; null for any.
 * @throws forbidden for customers, notFound, preconditionFailed, wrongState.
 */
export async function fulfillOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<RenderedOrder> {
  requireStore(ctx);
  return change(ctx, fulfillPaid, id, ifMatch, {}, (tx) => settleOrder(tx, id, { event: "order.fulfilled" }));
}

/** One guarded change of an order and what follows from it; or why not. */
async function change(
  ctx: Ctx,
  guarded: CompiledStatement<ChangedOrder>,
  id: string,
  ifMatch: number | null,
  more: { reference?: string | null },
  follow: (tx: Ctx, order: ChangedOrder) => Promise<RenderedOrder>,
): Promise<RenderedOrder> {
  requireOrderId(id);
  return inTransaction(ctx, async (tx) => {
    const own = ownOnly(ctx);
    const values = { tenantId: tx.tenant.id, id, own, now: toTimestamp(tx.now()), ifMatch, ...more };
    const order = await get(tx.db, guarded, values);
    if (order) return follow(tx, order);
    const state = await get(tx.db, selectState, values);
    if (!state) throw noSuchOrder();
    const isPaidSo = more.reference != null && state.payment_reference === more.reference;
    if (isPaidSo) return (await get(tx.db, selectOrder, values)) as RenderedOrder;
    if (ifMatch !== null && state.version !== ifMatch) throw preconditionFailed();
    const isLate = state.status === "pending" && guarded === payPending;
    throw wrongState(isLate ? "The time to pay the order is over." : `The order is ${state.status}.`);
  });
}
