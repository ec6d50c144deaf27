import type { Stripe } from "stripe";
import type { PaymentOptions } from "../../../context.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import type {
  Provider,
  ProviderDispute,
  ProviderEvent,
  ProviderKind,
  ProviderRefund,
  RefundRequest,
  Snapshot,
} from "../provider.ts";
import { expectStatus, openStripe } from "./client.ts";
import { eventTypes, toEvent, verifyEvent } from "./events.ts";
import { sessionParams } from "./session.ts";
import { fromStripe, toStripe } from "./units.ts";

const expand = ["payment_intent", "payment_intent.latest_charge"];
const timeOf = (seconds: number) => toTimestamp(seconds * 1000);

export const stripe = { requestOf: sessionParams, open: openAccount, verify: verifyEvent } satisfies ProviderKind;

/** Returns the calls to the account at Stripe that a key belongs to. */
function openAccount(key: string, options?: PaymentOptions): Provider {
  const call = openStripe(key, options);
  return {
    open: ({ id, request, createdAt }, isOld) =>
      call(async (stripe) => {
        const session = isOld
          ? await findSession(stripe, id, Date.parse(createdAt) / 1000)
          : await stripe.checkout.sessions.create(JSON.parse(request), { idempotencyKey: id });
        return session && { sessionId: session.id, url: session.url ?? "" };
      }),
    read: (sessionId) =>
      call(async (stripe) => snapshotOf(stripe, await stripe.checkout.sessions.retrieve(sessionId, { expand }))),
    // Stripe answers with 400 if the page is already complete or closed, which is no error here.
    close: (sessionId) => call(({ checkout }) => checkout.sessions.expire(sessionId)).catch(expectStatus(400)),
    refund: (request, isOld) => call((stripe) => refundIntent(stripe, request, isOld)),
    listEvents: (since) => call((stripe) => listEvents(stripe, since)),
  };
}

async function listEvents({ events }: Stripe, since: number): Promise<ProviderEvent[]> {
  const params = { created: { gte: Math.floor(since / 1000) }, types: [...eventTypes], limit: 100 };
  return (await events.list(params).autoPagingToArray({ limit: 10_000 })).map(toEvent).reverse();
}

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

const refundStates = { succeeded: "succeeded", failed: "failed", canceled: "failed" } as const;

function toRefund({ id, amount, currency, status, metadata, failure_reason }: Stripe.Refund): ProviderRefund {
  const state = refundStates[status as keyof typeof refundStates] ?? "pending";
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
  return { ...dispute, isLost, isClosed, dueAt } satisfies ProviderDispute;
}

async function refundIntent(
  stripe: Stripe,
  { id, orderId, intentId: payment_intent, amountMinor, currency }: RefundRequest,
  isOld: boolean,
): Promise<ProviderRefund> {
  if (isOld) {
    const made = await stripe.refunds.list({ payment_intent, limit: 100 }).autoPagingToArray({ limit: 1000 });
    const own = made.find(({ metadata }) => metadata?.refund === id);
    if (own) return toRefund(own);
  }
  const params = { payment_intent, amount: toStripe(amountMinor, currency), metadata: { refund: id, order: orderId } };
  return toRefund(await stripe.refunds.create(params, { idempotencyKey: id }));
}
