import {
  type ApiRequest,
  attempt,
  postWebhook,
  startStripeStandIn,
  type Webhook,
} from "../../src/cli/commands/demo/stripe-stand-in/stand-in.ts";
import { checkRequest } from "./stripe-rules.ts";

/** What happens to the next call that begins with `match`, such as "POST refunds". It is used once. */
export interface CallFault {
  match: string;
  kind: "cutAfterCommit" | "cutBefore" | "status500" | "status429" | "status403" | "never";
}
/** What happens to all webhooks from now on. `held` ones wait for `deliver`. */
export type Delivery = "auto" | "held" | "twice" | "forged" | "lost";

const api = (status: number, type: string, message: string) => ({
  status,
  body: JSON.stringify({ error: { type, message } }),
});
const replies = {
  status500: api(500, "api_error", "An error occurred."),
  status429: api(429, "invalid_request_error", "Too many requests."),
  status403: api(403, "invalid_request_error", "The provided key does not have the required permissions."),
};

/**
 * Starts the stand-in of Stripe with the faults of a network. Settings can be changed at any time: `delivery`, `faults`
 * and `pause`, which runs before each call is answered. `books.refundsBecome` is the state of new refunds.
 */
export async function startStripe({ now = Date.now, port = 0 }: { now?: () => number; port?: number } = {}) {
  const webhooks: Webhook[] = [];
  const replied: { type: string; status: number }[] = [];
  const sending = new Set<Promise<unknown>>();
  const settings = {
    delivery: "auto" as Delivery,
    faults: [] as CallFault[],
    pause: async (_: ApiRequest): Promise<void> => {},
  };
  /** Each call, in order, with the text that was sent. */
  const calls: ApiRequest[] = [];
  const hanging: (() => void)[] = [];
  /** When the keys of answered calls are forgotten. */
  const keys = new Map<string, number>();

  async function send(webhook: Webhook, at = now()): Promise<number> {
    const sent = postWebhook(webhook, at);
    sending.add(sent);
    const status = await sent.finally(() => sending.delete(sent));
    replied.push({ type: webhook.type, status });
    return status;
  }

  const standIn = await startStripeStandIn({
    now,
    port,
    send: (webhook) => {
      webhooks.push(webhook);
      const { delivery } = settings;
      if (delivery === "forged") void send({ ...webhook, secret: "whsec_of_another" });
      if (delivery === "auto" || delivery === "twice") void send(webhook);
      if (delivery === "twice") void send(webhook);
    },
    around: async (request, work) => {
      calls.push(request);
      await settings.pause(request);
      const index = settings.faults.findIndex(({ match }) => request.call.startsWith(match));
      const [fault] = index < 0 ? [] : settings.faults.splice(index, 1);
      if (fault?.kind === "never") return new Promise((resolve) => hanging.push(() => resolve(undefined)));
      if (fault?.kind === "cutBefore") return undefined;
      if (fault && fault.kind !== "cutAfterCommit") return replies[fault.kind];
      const version = String(request.headers["stripe-version"]);
      // A repeat is answered as before, without a check.
      const key = String(request.headers["idempotency-key"]);
      const isRepeat = (keys.get(key) ?? 0) > now();
      const checked = attempt(() => {
        if (!isRepeat) checkRequest(request.call, request.text, version, Math.floor(now() / 1000));
        return {};
      });
      const reply = checked.status === 200 ? work() : checked;
      if (reply.status === 200 && !isRepeat) keys.set(key, now() + 86_400_000);
      return fault ? undefined : reply;
    },
  });
  const { test: books } = standIn;

  return Object.assign(settings, {
    url: standIn.url,
    books,
    live: standIn.live,
    calls,
    replied,
    /** All webhooks that Stripe would have sent, in order. */
    webhooks,
    /** Sends a webhook, at any time and as often as wanted. Returns the status of the reply; 0 without one. */
    deliver: (index: number, at = now()) => send(webhooks[index] as Webhook, at),
    send,
    /** Waits until all webhooks on their way are answered. */
    settle: async () => {
      while (sending.size > 0) await Promise.all(sending);
    },
    pay: (session: string, { async: isProcessing = false } = {}) => books.pay(session, { isProcessing }),
    decline: (session: string) => books.decline(session),
    expire: (session: string) => void books.expire(session),
    settleAsync(id: string, isPaid: boolean): void {
      const session = books.find("checkout/sessions", id);
      const intent = books.find("payment_intents", session.payment_intent);
      if (isPaid) books.take({ session, intent });
      else intent.status = "requires_payment_method";
      books.record(`checkout.session.async_payment_${isPaid ? "succeeded" : "failed"}`, session);
    },
    refundInDashboard: (intent: string, amount?: number, status = "succeeded") =>
      books.refund(intent, { status, ...(amount !== undefined && { amount }) }),
    /** Ends a pending refund, or fails one that had succeeded, as banks do weeks later. */
    finishRefund(id: string, status: "succeeded" | "failed" | "canceled"): void {
      const refund = books.find("refunds", id);
      Object.assign(refund, { status, ...(status === "failed" && { failure_reason: "lost_or_stolen_card" }) });
      books.sumRefunds(books.find("charges", refund.charge));
      if (status === "failed") books.record("refund.failed", refund);
      books.record("refund.updated", refund);
    },
    /** The buyer's bank disputes a payment; `warning_needs_response` only asks. */
    dispute(intentId: string, { amount, status = "needs_response" }: { amount?: number; status?: string } = {}) {
      const charge = books.find("charges", books.find("payment_intents", intentId).latest_charge);
      charge.disputed = true;
      const evidence_details = { due_by: books.seconds() + 7 * 86_400, has_evidence: false, past_due: false };
      const links = { charge: charge.id, payment_intent: intentId, currency: charge.currency };
      const fields = { ...links, amount: amount ?? charge.amount, status, reason: "fraudulent", evidence_details };
      const dispute = books.add("disputes", "du", fields);
      books.record("charge.dispute.created", dispute);
      return dispute;
    },
    /** Moves a dispute on; `won`, `lost` and `warning_closed` end it. */
    moveDispute(id: string, status: string): void {
      const dispute = Object.assign(books.find("disputes", id), { status });
      const isOver = ["won", "lost", "warning_closed"].includes(status);
      books.record(`charge.dispute.${isOver ? "closed" : "updated"}`, dispute);
    },
    stop: async () => {
      for (const release of hanging) release();
      await standIn.stop();
    },
  });
}
export type Stripe = Awaited<ReturnType<typeof startStripe>>;
