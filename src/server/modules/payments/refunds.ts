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
import { requireStore } from "../orders/input.ts";
import { refreshPaymentStatus } from "../orders/payments.ts";
import { requireRow } from "../orders/read.ts";
import { insertRefund, moneyOnly } from "../orders/refund.ts";
import { bumpOrder } from "../orders/statements.ts";
import { orderRefunds, payments } from "../orders/table.ts";
import type { ProviderDispute, ProviderRefund } from "./provider.ts";
import { disputes } from "./table.ts";

export type PaymentRow = typeof payments.$inferSelect;
type RefundRow = typeof orderRefunds.$inferSelect;

const selectRefund = statement((q) => q.select().from(orderRefunds).where(byId(orderRefunds)));
const ofPayment = and(ofStore(orderRefunds), equals(orderRefunds.paymentId, "paymentId"));
const selectRefunds = statement((q) => q.select().from(orderRefunds).where(ofPayment).orderBy(orderRefunds.id));
const selectPayment = statement((q) => q.select().from(payments).where(byId(payments)));
const setState = params("state", "providerId", "error");
const updateRefund = statement((q) => q.update(orderRefunds).set(setState).where(byId(orderRefunds)));
const identity = params("tenantId", "id", "orderId", "paymentId", "amountMinor", "currency", "reason");
const progress = params("status", "progress", "dueAt");
// An older state changes nothing.
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

/** The part of a payment that no refund has given back or is to give back. */
const leftOf = ({ amountMinor }: PaymentRow, rows: readonly RefundRow[]): number =>
  rows.reduce((left, row) => left - (row.state === "failed" ? 0 : row.amountMinor), amountMinor);

/** Records the states that known refunds of a payment have reached. Returns those that are missing here. */
export async function advanceRefunds(tx: Ctx, payment: PaymentRow, found: readonly ProviderRefund[]) {
  const rows = await listRefunds(tx, payment);
  const missing: ProviderRefund[] = [];
  for (const one of found) {
    const row = rows.find(({ id, providerId }) => providerId === one.id || id === one.ownId);
    if (row) await advance(tx, row, one);
    else if (one.state !== "failed") missing.push(one);
  }
  return missing;
}

/** Records the state of a refund that is known here, unless a newer one is. */
export async function advance(tx: Ctx, row: RefundRow, { id: providerId, state, error }: ProviderRefund) {
  // A refund that the provider has not answered has no state there yet.
  if (row.providerId === null || ranks[state] > ranks[row.state])
    await setRefund(tx, { ...row, state, providerId, error });
}

/** Records that money was not given back, and why; null for a dispute that was won after all. */
export const failRefund = (tx: Ctx, row: RefundRow, error: string | null) =>
  setRefund(tx, { ...row, state: "failed", error });

async function setRefund(tx: Ctx, row: RefundRow): Promise<void> {
  await run(tx.db, updateRefund, { ...row, tenantId: tx.tenant.id });
  if (row.state === "failed" && row.error !== null) await needAttention(tx, row.orderId, "refund_failed");
  await refreshPaymentStatus(tx, row.orderId, "order.updated");
}

/** Records money that left at the provider: by a refund made there, or by a lost dispute, which staff know already. */
export async function addFound(
  tx: Ctx,
  payment: PaymentRow,
  { id, amountMinor, state }: Pick<ProviderRefund, "id" | "amountMinor" | "state">,
  reason: string | null = null,
): Promise<void> {
  const left = await makeRoom(tx, payment, amountMinor);
  const order = await requireRow(tx, payment.orderId);
  const amount = Math.min(amountMinor, left);
  // Surplus and late money is no part of what the order costs.
  const surplus = Math.max(-dueOf(order), 0);
  const credited = order.paidAt === null ? 0 : Math.max(amount - surplus, 0);
  await addRefund(tx, { ...payment, amountMinor: amount, creditedMinor: credited, state, providerId: id, reason });
  if (reason === null) await needAttention(tx, order.id, "refund_unassigned");
}

/**
 * Returns what is left of a payment. Refunds that only this store knows fail if the provider has given the same money
 * back: it will refuse them.
 */
async function makeRoom(tx: Ctx, payment: PaymentRow, amount: number): Promise<number> {
  const rows = await listRefunds(tx, payment);
  let left = leftOf(payment, rows);
  for (const row of rows.reverse()) {
    if (left >= amount || row.state !== "requested") continue;
    await failRefund(tx, row, "The provider has given this money back already.");
    left += row.amountMinor;
  }
  return left;
}

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
    await requireRow(tx, orderId, ifMatch);
    const failed = await findRefund(tx, id);
    if (failed?.orderId !== orderId) throw notFound("refund", id);
    const { state, error, paymentId, amountMinor, shippingMinor, creditedMinor, reason } = failed;
    // The row of a dispute that was won after all has no error.
    if (state !== "failed" || error === null) throw wrongState(`Refund ${id} has not failed.`);
    const payment = (await get(tx.db, selectPayment, { tenantId: tx.tenant.id, id: paymentId })) as PaymentRow;
    const rows = await listRefunds(tx, payment);
    if (rows.some(({ retryOf }) => retryOf === id)) throw wrongState(`Refund ${id} was repeated already.`);
    if (leftOf(payment, rows) < amountMinor) throw wrongState(`The payment of refund ${id} was given back otherwise.`);
    await endAttention(tx, orderId, ["refund_failed"]);
    const again = { amountMinor, shippingMinor, creditedMinor, reason, state: "requested", retryOf: id } as const;
    return addRefund(tx, { ...payment, ...again });
  });
}

type NewRefund = PaymentRow & Pick<RefundRow, "state" | "creditedMinor"> & Partial<RefundRow>;

/** Adds a refund of a payment, which credits at most what the order still costs. */
async function addRefund(tx: Ctx, { id: paymentId, ...refund }: NewRefund): Promise<Rendered> {
  const { totalMinor, creditedMinor: credited } = await requireRow(tx, refund.orderId);
  const creditedMinor = Math.min(refund.creditedMinor, totalMinor - credited);
  const values = { id: refund.orderId, refundId: newId("ref"), paymentId, creditedMinor, now: toTimestamp(tx.now()) };
  await run(tx.db, insertRefund, { ...moneyOnly, ...refund, ...values });
  // The buyer knows of a repeated refund from the first mail, and of a lost dispute from the bank.
  const isNews = refund.retryOf === undefined && refund.reason === null;
  const mail: [OrderMailKind, string] | undefined = isNews ? ["order_refunded", values.refundId] : undefined;
  return refreshPaymentStatus(tx, refund.orderId, "order.refunded", mail);
}

/** Records disputes of a payment. They change neither the order's status nor stock; a lost one returns the money. */
export async function applyDisputes(tx: Ctx, payment: PaymentRow, found: readonly ProviderDispute[]): Promise<void> {
  const { orderId, id: paymentId } = payment;
  for (const dispute of found) {
    const values = { ...dispute, tenantId: tx.tenant.id, orderId, paymentId, now: toTimestamp(tx.now()) };
    if ((await run(tx.db, upsertDispute, values)) === 0) continue;
    const { id, amountMinor, currency, status, reason, dueAt } = dispute;
    const data = { dispute: id, amount_minor: amountMinor, currency, status, reason, due_at: dueAt };
    const event = { type: "order.disputed", subject: orderId, data } as const;
    await tx.db.batch([bind(bumpOrder, { ...values, id: orderId }), bindEvent(tx, event)]);
    if (dispute.isClosed && !dispute.isLost) await endAttention(tx, orderId, ["dispute"]);
    else await needAttention(tx, orderId, "dispute");
    const returned = (await listRefunds(tx, payment)).find(({ providerId }) => providerId === id);
    if (dispute.isLost && !returned) {
      await addFound(tx, payment, { id, amountMinor, state: "succeeded" }, `Dispute ${id} was lost.`);
    } else if (!dispute.isLost && returned && returned.state !== "failed") {
      await failRefund(tx, returned, null);
    }
  }
}
