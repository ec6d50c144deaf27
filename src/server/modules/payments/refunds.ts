import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, byId, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, wrongState } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { bindEvent } from "../events/service.ts";
import type { OrderMailKind } from "../mail/kinds.ts";
import { dueOf } from "../orders/amounts.ts";
import { endAttention, needAttention } from "../orders/attention/attention.ts";
import { refundOf } from "../orders/credits.ts";
import { requireStore } from "../orders/input.ts";
import { refreshPaymentStatus } from "../orders/payments.ts";
import { requireRow } from "../orders/read.ts";
import { insertRefund, moneyOnly } from "../orders/refund.ts";
import { bumpOrder } from "../orders/statements.ts";
import { orderRefunds, payments } from "../orders/table.ts";
import type { ProviderDispute, ProviderRefund, Snapshot } from "./provider.ts";
import { disputes } from "./table.ts";

export type PaymentRow = typeof payments.$inferSelect;
type RefundRow = typeof orderRefunds.$inferSelect;
/** Money that the provider has paid back, and the reason if it is known. */
type Returned = Omit<ProviderRefund, "currency"> & { reason: string | null };

const selectRefund = statement((q) => q.select().from(orderRefunds).where(byId(orderRefunds)));
const ofPayment = and(ofStore(orderRefunds), equals(orderRefunds.paymentId, "paymentId"));
const selectRefunds = statement((q) => q.select().from(orderRefunds).where(ofPayment).orderBy(orderRefunds.id));
const selectPayment = statement((q) => q.select().from(payments).where(byId(payments)));
const setState = params("state", "providerId", "error");
const updateRefund = statement((q) => q.update(orderRefunds).set(setState).where(byId(orderRefunds)));
const identity = params("tenantId", "id", "orderId", "paymentId", "amountMinor", "currency", "reason");
const progress = params("status", "progress", "dueAt");
// If a newer state of the dispute is stored, nothing changes.
const upsertDispute = statement((q) =>
  q
    .insert(disputes)
    .values({ ...identity, ...progress, createdAt: param("now") })
    .onConflictDoUpdate({
      target: [disputes.tenantId, disputes.id],
      set: progress,
      setWhere: sql`${disputes.progress} < ${param("progress")}`,
    }),
);

const ranks = { requested: 0, pending: 1, succeeded: 2, failed: 3 };

export const findRefund = (tx: Ctx, id: string) => get(tx.db, selectRefund, { tenantId: tx.tenant.id, id });

const listRefunds = (tx: Ctx, { id: paymentId }: { id: string }): Promise<RefundRow[]> =>
  all(tx.db, selectRefunds, { tenantId: tx.tenant.id, paymentId });

/** Returns how much of a payment can be refunded. Failed refunds do not count. */
const leftOf = ({ amountMinor }: PaymentRow, rows: readonly RefundRow[]): number =>
  rows.reduce((left, row) => left - (row.state === "failed" ? 0 : row.amountMinor), amountMinor);

/**
 * Records what a provider knows about the refunds and disputes of a payment. Existing rows are updated first, because a
 * failed refund or a won dispute leaves money for other refunds.
 */
export async function applyReturns(tx: Ctx, payment: PaymentRow, snapshot: Pick<Snapshot, "refunds" | "disputes">) {
  const found: Returned[] = [];
  for (const dispute of snapshot.disputes) {
    if (!(await recordDispute(tx, payment, dispute))) continue;
    const { id, amountMinor, isLost } = dispute;
    // A lost dispute is recorded like a refund, although nobody requested one.
    const state = isLost ? "succeeded" : "failed";
    found.push({ id, ownId: null, amountMinor, state, error: null, reason: `Dispute ${id} was lost.` });
  }
  found.push(...snapshot.refunds.map((refund) => ({ ...refund, reason: null })));
  const rows = await listRefunds(tx, payment);
  const missing: Returned[] = [];
  for (const one of found) {
    const row = rows.find(({ id, providerId }) => providerId === one.id || id === one.ownId);
    if (row) await advance(tx, row, one);
    else if (one.state !== "failed") missing.push(one);
  }
  for (const one of missing) await addFound(tx, payment, one);
}

/** Records the state of a refund at the provider, unless a later state is recorded. */
export async function advance(
  tx: Ctx,
  { id, orderId, providerId: known, state: before }: RefundRow,
  { id: providerId, state, error }: Pick<ProviderRefund, "state" | "error"> & { id: string | null },
): Promise<void> {
  // A refund without a provider's id has no state at the provider yet, so any reported state is newer.
  if (known !== null && ranks[state] <= ranks[before]) return;
  await run(tx.db, updateRefund, { tenantId: tx.tenant.id, id, state, providerId, error });
  // The refund for a lost dispute fails without an error if the dispute is won on appeal.
  if (state === "failed" && error !== null) await needAttention(tx, orderId, "refund_failed");
  else if (before === "failed") await endAttention(tx, orderId, ["refund_failed"]);
  await refreshPaymentStatus(tx, orderId, "order.updated");
}

/**
 * Records a refund that was made at the provider, or the money of a lost dispute. If the payment then has too little
 * left, refunds that were only requested here fail, because the provider will refuse them.
 */
async function addFound(tx: Ctx, payment: PaymentRow, { id, amountMinor, state, reason }: Returned): Promise<void> {
  const rows = await listRefunds(tx, payment);
  let left = leftOf(payment, rows);
  for (const row of rows.reverse()) {
    if (left >= amountMinor || row.state !== "requested") continue;
    await advance(tx, row, { id: null, state: "failed", error: "The provider has given this money back already." });
    left += row.amountMinor;
  }
  const order = await requireRow(tx, payment.orderId);
  const amount = Math.min(amountMinor, left);
  // Refunds of surplus money, and refunds of an order that was never paid, do not reduce what the order costs.
  const surplus = Math.max(-dueOf(order), 0);
  const credited = order.paidAt === null ? 0 : Math.max(amount - surplus, 0);
  await addRefund(tx, { ...payment, amountMinor: amount, creditedMinor: credited, state, providerId: id, reason });
  if (reason === null) await needAttention(tx, order.id, "refund_unassigned");
}

/**
 * Repeats a failed refund as a new refund, because the provider would answer the old request as before.
 * @throws notFound, preconditionFailed; wrongState if the refund has not failed, was repeated already, or if too little
 * of its payment is left.
 */
export function retryRefund(
  ctx: Ctx,
  { id: orderId, refund_id: id }: { id: string; refund_id: string },
  ifMatch: number | null = null,
): Promise<Rendered> {
  requireStore(ctx);
  return inTransaction(ctx, async (tx) => {
    await requireRow(tx, orderId, ifMatch);
    const failed = await findRefund(tx, id);
    if (failed?.orderId !== orderId) throw notFound("refund", id);
    const { state, error, paymentId, amountMinor, shippingMinor, creditedMinor, reason } = failed;
    // The refund for a dispute that was won on appeal has failed, too, but without an error.
    if (state !== "failed" || error === null) throw wrongState(`Refund ${id} has not failed.`);
    const payment = (await get(tx.db, selectPayment, { tenantId: tx.tenant.id, id: paymentId })) as PaymentRow;
    const rows = await listRefunds(tx, payment);
    if (rows.some(({ retryOf }) => retryOf === id)) throw wrongState(`Refund ${id} was repeated already.`);
    if (leftOf(payment, rows) < amountMinor) throw wrongState(`Too little of the payment of refund ${id} is left.`);
    await endAttention(tx, orderId, ["refund_failed"]);
    const again = { amountMinor, shippingMinor, creditedMinor, reason, partOf: refundOf(failed), retryOf: id };
    return addRefund(tx, { ...payment, ...again, state: "requested" });
  });
}

type NewRefund = PaymentRow & Pick<RefundRow, "state" | "creditedMinor"> & Partial<RefundRow>;

/** Adds a refund of a payment, and returns the order. The refund credits at most what the order costs now. */
async function addRefund(tx: Ctx, { id: paymentId, ...refund }: NewRefund): Promise<Rendered> {
  const { totalMinor, creditedMinor: credited } = await requireRow(tx, refund.orderId);
  const creditedMinor = Math.min(refund.creditedMinor, totalMinor - credited);
  const values = { id: refund.orderId, refundId: newId("ref"), paymentId, creditedMinor, now: toTimestamp(tx.now()) };
  await run(tx.db, insertRefund, { ...moneyOnly, ...refund, ...values });
  // No mail is sent for a repeated refund, which was mailed before, and a lost dispute, which the buyer's bank reports.
  const isNews = refund.retryOf === undefined && refund.reason === null;
  const mail: [OrderMailKind, string] | undefined = isNews ? ["order_refunded", values.refundId] : undefined;
  return refreshPaymentStatus(tx, refund.orderId, "order.refunded", mail);
}

/** Records a dispute. The order keeps its status and stock. Returns whether the dispute is new or has advanced. */
async function recordDispute(tx: Ctx, { orderId, id: paymentId }: PaymentRow, dispute: ProviderDispute) {
  const values = { ...dispute, tenantId: tx.tenant.id, orderId, paymentId, now: toTimestamp(tx.now()) };
  if ((await run(tx.db, upsertDispute, values)) === 0) return false;
  const { id, amountMinor, currency, status, reason, dueAt } = dispute;
  const data = { dispute: id, amount_minor: amountMinor, currency, status, reason, due_at: dueAt };
  const event = { type: "order.disputed", subject: orderId, data } as const;
  await tx.db.batch([bind(bumpOrder, { ...values, id: orderId }), bindEvent(tx, event)]);
  if (dispute.isClosed && !dispute.isLost) await endAttention(tx, orderId, ["dispute"]);
  else await needAttention(tx, orderId, "dispute");
  return true;
}
