import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, ofStore, param, params, statement } from "../../db/statement.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { needAttention } from "../orders/attention/attention.ts";
import { dueOf, refreshPaymentStatus } from "../orders/payments.ts";
import { requireRow } from "../orders/read.ts";
import { orderRefunds, orders, type payments } from "../orders/table.ts";
import type { ProviderRefund } from "./provider.ts";
import { refundDeliveries } from "./table.ts";

type PaymentRow = typeof payments.$inferSelect;
type RefundRow = typeof orderRefunds.$inferSelect;

const ofPayment = sql`${ofStore(orderRefunds)} and payment_id = ${param("paymentId")}`;
const selectRefunds = statement((q) => q.select().from(orderRefunds).where(ofPayment).orderBy(orderRefunds.id));
const setRefund = statement((q) =>
  q
    .update(orderRefunds)
    .set(params("state", "providerId", "error"))
    .where(sql`${ofStore(orderRefunds)} and id = ${param("id")}`),
);
export const insertRow = statement((q) =>
  q.insert(orderRefunds).values({
    ...params("id", "tenantId", "orderId", "amountMinor", "shippingMinor", "creditedMinor", "paymentId", "state"),
    ...{ ...params("providerId", "retryOf", "reason"), lines: "[]", createdAt: param("now") },
  }),
);
const drop = statement(sql`
  update ${refundDeliveries} set status = 'dropped', finished_at = ${param("now")}
  where id = ${param("id")} and status = 'waiting'`);
const sumOf = (column: string) => sql`(select coalesce(sum(${sql.raw(column)}), 0) from ${orderRefunds} r
  where r.order_id = ${orders}.id and r.state <> 'failed')`;
export const addUp = statement(sql`
  update ${orders} set refunded_minor = ${sumOf("amount_minor")}, credited_minor = ${sumOf("credited_minor")}
  where ${ofStore(orders)} and id = ${param("orderId")}`);

const ranks = { requested: 0, pending: 1, succeeded: 2, failed: 3 };

/** Records the states that known refunds of a payment have reached. Returns those that are missing here. */
export async function advanceRefunds(
  tx: Ctx,
  payment: PaymentRow,
  found: readonly ProviderRefund[],
): Promise<ProviderRefund[]> {
  const rows = await listRefunds(tx, payment);
  const missing: ProviderRefund[] = [];
  for (const one of found) {
    const row = rows.find(({ id, providerId }) => providerId === one.id || id === one.ownId);
    if (row) await advance(tx, row, one);
    else if (one.state !== "failed") missing.push(one);
  }
  return missing;
}

export const listRefunds = (tx: Ctx, { id: paymentId }: { id: string }): Promise<RefundRow[]> =>
  all(tx.db, selectRefunds, { tenantId: tx.tenant.id, paymentId });

/** Records the state of a refund that is known here, unless a newer one is. */
export async function advance(
  tx: Ctx,
  row: RefundRow,
  { id, state, error }: Omit<ProviderRefund, "ownId" | "amountMinor" | "currency">,
) {
  // A refund that the provider has not answered has no state there yet.
  if (row.providerId !== null && ranks[state] <= ranks[row.state]) return;
  const values = { tenantId: tx.tenant.id, id: row.id, orderId: row.orderId, state, providerId: id, error };
  await tx.db.batch([bind(setRefund, values), bind(addUp, values)]);
  if (state === "failed") await needAttention(tx, row.orderId, "refund_failed");
  await refreshPaymentStatus(tx, row.orderId, "order.updated");
}

/** Records that money was not given back, and why; null for a dispute that was won after all. */
export async function failRefund(tx: Ctx, row: RefundRow, error: string | null): Promise<void> {
  const values = { tenantId: tx.tenant.id, id: row.id, orderId: row.orderId, now: toTimestamp(tx.now()) };
  const failed = { ...values, state: "failed", providerId: row.providerId, error };
  await tx.db.batch([bind(setRefund, failed), bind(drop, values), bind(addUp, values)]);
  if (error !== null) await needAttention(tx, row.orderId, "refund_failed");
  await refreshPaymentStatus(tx, row.orderId, "order.updated");
}

/** Records money that left at the provider: by a refund made there, or by a lost dispute, which staff know already. */
export async function addFound(
  tx: Ctx,
  payment: PaymentRow,
  {
    id: providerId,
    amountMinor: amount,
    state,
    reason,
  }: Pick<ProviderRefund, "id" | "amountMinor" | "state"> & { reason?: string },
): Promise<void> {
  await makeRoom(tx, payment, amount);
  const { orderId, id: paymentId } = payment;
  const left = await leftOf(tx, payment);
  const order = await requireRow(tx, orderId);
  const amountMinor = Math.min(amount, left);
  // Surplus and late money is no part of what the order costs.
  const surplus = Math.max(-dueOf(order), 0);
  const isLate = order.paidAt === null;
  const creditedMinor = isLate
    ? 0
    : Math.min(Math.max(amountMinor - surplus, 0), order.totalMinor - order.creditedMinor);
  const values = { tenantId: tx.tenant.id, id: newId("ref"), orderId, now: toTimestamp(tx.now()) };
  const row = { ...values, amountMinor, shippingMinor: 0, creditedMinor, paymentId, state, providerId };
  await tx.db.batch([bind(insertRow, { ...row, retryOf: null, reason: reason ?? null }), bind(addUp, values)]);
  if (reason === undefined) await needAttention(tx, orderId, "refund_unassigned");
  await refreshPaymentStatus(tx, orderId, "order.refunded");
}

/** Refunds that only this store knows fail if the provider has given the same money back: it will refuse them. */
async function makeRoom(tx: Ctx, payment: PaymentRow, amount: number): Promise<void> {
  const rows = await listRefunds(tx, payment);
  let left = await leftOf(tx, payment);
  for (const row of rows.reverse()) {
    if (left >= amount) return;
    if (row.state !== "requested") continue;
    await failRefund(tx, row, "The provider has given this money back already.");
    left += row.amountMinor;
  }
}

/** The part of a payment that no refund has given back or is to give back. */
export async function leftOf(tx: Ctx, payment: PaymentRow): Promise<number> {
  const rows = await listRefunds(tx, payment);
  return rows.reduce(
    (left, { state, amountMinor }) => left - (state === "failed" ? 0 : amountMinor),
    payment.amountMinor,
  );
}
