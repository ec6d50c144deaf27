import type { Stripe } from "stripe";
import { toTimestamp } from "../../../values/stamps.ts";
import type { checkouts } from "../../orders/checkouts/table.ts";
import { type CallStripe, expectStatus } from "./client.ts";
import { eventTypes, toEvent } from "./events.ts";
import { fromStripe, toStripe } from "./units.ts";

/** What Stripe knows about a payment page. Amounts are in minor units of ISO 4217. */
export interface Snapshot {
  /** A page is `processing` until Stripe has decided about the payment, and `failed` if that fails. */
  state: "open" | "processing" | "complete" | "expired" | "failed";
  intentId: string | null;
  payment: { amountMinor: number; currency: string; reference: string; receivedAt: string } | null;
  refunds: StripeRefund[];
  disputes: StripeDispute[];
}

const expand = ["payment_intent", "payment_intent.latest_charge"];
const timeOf = (seconds: number) => toTimestamp(seconds * 1000);
/** Whether the request of a row may be too old to be retried: Stripe recognises a retry for 24 hours. */
const isOld = ({ createdAt }: { createdAt: string }, now: number) => now - Date.parse(createdAt) > 20 * 3_600_000;

type NewCheckout = Pick<typeof checkouts.$inferSelect, "id" | "request" | "createdAt">;

/** Opens a page. If the same checkout is opened again, no second page is opened; undefined if an old one had none. */
export const openSession = (call: CallStripe, checkout: NewCheckout, now: number) =>
  call(async (stripe) => {
    const session = isOld(checkout, now)
      ? await findSession(stripe, checkout.id, Date.parse(checkout.createdAt) / 1000)
      : await stripe.checkout.sessions.create(JSON.parse(checkout.request), { idempotencyKey: checkout.id });
    return session && { sessionId: session.id, url: session.url ?? "" };
  });

export const readSession = (call: CallStripe, id: string) =>
  call(async (stripe) => snapshotOf(stripe, await stripe.checkout.sessions.retrieve(id, { expand })));

// Stripe answers with 400 if the page is already complete or closed, which is no error here.
export const closeSession = (call: CallStripe, id: string) =>
  call(({ checkout }) => checkout.sessions.expire(id)).catch(expectStatus(400));

/** Returns the events since a time in epoch milliseconds, the oldest first. */
export const listEvents = (call: CallStripe, since: number) =>
  call(async ({ events }) => {
    const params = { created: { gte: Math.floor(since / 1000) }, types: [...eventTypes], limit: 100 };
    return (await events.list(params).autoPagingToArray({ limit: 10_000 })).map(toEvent).reverse();
  });

async function findSession({ checkout }: Stripe, id: string, created: number) {
  const window = { gte: Math.floor(created) - 60, lte: Math.ceil(created) + 86_400 };
  for await (const session of checkout.sessions.list({ created: window, limit: 100 })) {
    if (session.client_reference_id === id) return session;
  }
  return undefined;
}

async function snapshotOf(stripe: Stripe, session: Stripe.Checkout.Session): Promise<Snapshot> {
  const intent = session.payment_intent as Stripe.PaymentIntent | null;
  const found = { intentId: intent?.id ?? null, payment: null, refunds: [], disputes: [] };
  if (session.status !== "complete") return { ...found, state: session.status as "open" | "expired" };
  if (!intent || session.payment_status !== "paid") {
    const hasFailed = ["requires_payment_method", "canceled"].includes(intent?.status ?? "");
    return { ...found, state: hasFailed ? "failed" : "processing" };
  }
  const charge = intent.latest_charge as Stripe.Charge;
  const of = { payment_intent: intent.id, limit: 100 };
  const [refunds, disputes] = await Promise.all([
    stripe.refunds.list(of).autoPagingToArray({ limit: 1000 }),
    charge.disputed ? stripe.disputes.list(of).autoPagingToArray({ limit: 100 }) : [],
  ]);
  const paid = fromStripe(session.amount_total ?? 0, session.currency ?? "");
  const payment = { ...paid, reference: intent.id, receivedAt: timeOf(charge.created) };
  return { ...found, state: "complete", payment, refunds: refunds.map(toRefund), disputes: disputes.map(toDispute) };
}

type RefundState = "pending" | "succeeded" | "failed";
const refundStates: Record<string, RefundState> = { succeeded: "succeeded", failed: "failed", canceled: "failed" };

/** `ownId` is the id of the store's refund that was requested; null if the refund was made at Stripe. */
export type StripeRefund = ReturnType<typeof toRefund>;

function toRefund({ id, amount, currency, status, metadata, failure_reason }: Stripe.Refund) {
  const state = refundStates[status ?? ""] ?? "pending";
  const error = state === "failed" ? (failure_reason ?? status) : null;
  return { id, ...fromStripe(amount, currency), ownId: metadata?.refund ?? null, state, error };
}

// A dispute that is `prevented` or `won` costs the store nothing. During an appeal, the money is still lost.
const progress = [
  ...["warning_needs_response", "warning_under_review", "warning_closed", "needs_response", "under_review"],
  ...["lost", "appeal_needs_response", "appeal_under_review", "prevented", "won"],
];

export type StripeDispute = ReturnType<typeof toDispute>;

function toDispute({ id, amount, currency, status, reason, evidence_details: evidence }: Stripe.Dispute) {
  const isLost = status === "lost" || status.startsWith("appeal_");
  const isClosed = isLost || ["warning_closed", "prevented", "won"].includes(status);
  const dueAt = evidence.due_by === null ? null : timeOf(evidence.due_by);
  const dispute = { id, ...fromStripe(amount, currency), status, progress: progress.indexOf(status), reason };
  return { ...dispute, isLost, isClosed, dueAt };
}

interface RefundRequest {
  id: string;
  orderId: string;
  intentId: string;
  amountMinor: number;
  currency: string;
  createdAt: string;
}

/** Requests a refund. If the same refund is requested again, the money is not paid back twice. */
export const refundIntent = (call: CallStripe, { intentId: payment_intent, ...refund }: RefundRequest, now: number) =>
  call(async ({ refunds }) => {
    if (isOld(refund, now)) {
      const made = await refunds.list({ payment_intent, limit: 100 }).autoPagingToArray({ limit: 1000 });
      const own = made.find(({ metadata }) => metadata?.refund === refund.id);
      if (own) return toRefund(own);
    }
    const metadata = { refund: refund.id, order: refund.orderId };
    const params = { payment_intent, amount: toStripe(refund.amountMinor, refund.currency), metadata };
    return toRefund(await refunds.create(params, { idempotencyKey: refund.id }));
  });
