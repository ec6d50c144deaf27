import type { Stripe } from "stripe";
import { toTimestamp } from "../../../values/stamps.ts";
import type { checkouts } from "../../orders/checkouts/table.ts";
import { type CallStripe, expectStatus } from "./client.ts";
import { eventTypes, toEvent } from "./events.ts";
import { fromStripe, toStripe } from "./units.ts";

/** The state of a payment page at Stripe, and the payment, refunds and disputes that follow from it. */
export interface Snapshot {
  /** A completed page is `processing` until Stripe accepts the payment, or `failed` if Stripe refuses. */
  state: "open" | "processing" | "complete" | "expired" | "failed";
  intentId: string | null;
  payment: { amountMinor: number; currency: string; reference: string; receivedAt: string } | null;
  refunds: ReturnType<typeof toRefund>[];
  disputes: ReturnType<typeof toDispute>[];
}

type NewCheckout = Pick<typeof checkouts.$inferSelect, "id" | "request" | "createdAt">;
type NewRefund = Record<"id" | "orderId" | "intentId" | "currency" | "createdAt", string> & { amountMinor: number };

const expand = ["payment_intent", "payment_intent.latest_charge"];
const timeOf = (seconds: number) => toTimestamp(seconds * 1000);

/** Stripe recognises an idempotency key for 24 hours. The results of older requests are searched for. */
const isOld = ({ createdAt }: { createdAt: string }, now: number) => now - Date.parse(createdAt) > 20 * 3_600_000;

/** Opens a page. A second call for the same checkout returns the same page; undefined if an old request made none. */
export const openSession = (call: CallStripe, checkout: NewCheckout, now: number) =>
  call(async (stripe) => {
    const { id, request } = checkout;
    const session = isOld(checkout, now)
      ? await findSession(stripe, id, Date.parse(checkout.createdAt) / 1000)
      : await stripe.checkout.sessions.create(JSON.parse(request), { idempotencyKey: id });
    return session && { sessionId: session.id, url: session.url ?? "" };
  });

async function findSession({ checkout }: Stripe, id: string, created: number) {
  const window = { gte: Math.floor(created) - 60, lte: Math.ceil(created) + 86_400 };
  for await (const session of checkout.sessions.list({ created: window, limit: 100 })) {
    if (session.client_reference_id === id) return session;
  }
  return undefined;
}

/** Closes a page, so that it cannot be paid. Stripe answers with 400 if the page is already complete or closed. */
export const expireSession = (call: CallStripe, id: string) =>
  call(({ checkout }) => checkout.sessions.expire(id)).catch(expectStatus(400));

export const readSession = (call: CallStripe, id: string): Promise<Snapshot> =>
  call(async (stripe) => snapshotOf(stripe, await stripe.checkout.sessions.retrieve(id, { expand })));

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

const refundStates = { succeeded: "succeeded", failed: "failed", canceled: "failed" } as const;

/** Converts a refund of Stripe. `ownId` is the row in `order_refunds` that requested it; null for other refunds. */
function toRefund({ id, amount, currency, status, metadata, failure_reason }: Stripe.Refund) {
  const state = refundStates[status as keyof typeof refundStates] ?? ("pending" as const);
  const error = state === "failed" ? (failure_reason ?? status) : null;
  return { id, ...fromStripe(amount, currency), ownId: metadata?.refund ?? null, state, error };
}

// The order in which a dispute can advance. During an appeal, the money is lost. The last two states cost nothing.
const progress = [
  ...["warning_needs_response", "warning_under_review", "warning_closed", "needs_response", "under_review"],
  ...["lost", "appeal_needs_response", "appeal_under_review", "prevented", "won"],
];

function toDispute({ id, amount, currency, status, reason, evidence_details: evidence }: Stripe.Dispute) {
  const isLost = status === "lost" || status.startsWith("appeal_");
  const isClosed = isLost || ["warning_closed", "prevented", "won"].includes(status);
  const dueAt = evidence.due_by === null ? null : timeOf(evidence.due_by);
  const dispute = { id, ...fromStripe(amount, currency), status, progress: progress.indexOf(status), reason };
  return { ...dispute, isLost, isClosed, dueAt };
}

/** Pays money back. A second call for the same refund returns the same result. */
export const createRefund = (call: CallStripe, refund: NewRefund, now: number) =>
  call(async ({ refunds }) => {
    const { id, orderId, intentId: payment_intent, amountMinor, currency } = refund;
    if (isOld(refund, now)) {
      const made = await refunds.list({ payment_intent, limit: 100 }).autoPagingToArray({ limit: 1000 });
      const own = made.find(({ metadata }) => metadata?.refund === id);
      if (own) return toRefund(own);
    }
    const metadata = { refund: id, order: orderId };
    const params = { payment_intent, amount: toStripe(amountMinor, currency), metadata };
    return toRefund(await refunds.create(params, { idempotencyKey: id }));
  });

/** Returns the events since a time in epoch milliseconds, the oldest first. */
export const listEvents = (call: CallStripe, since: number) =>
  call(async ({ events }) => {
    const params = { created: { gte: Math.floor(since / 1000) }, types: [...eventTypes], limit: 100 };
    return (await events.list(params).autoPagingToArray({ limit: 10_000 })).map(toEvent).reverse();
  });
