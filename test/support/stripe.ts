import { createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import type { Books, Row } from "../../src/cli/commands/demo/stripe-stand-in/books.ts";
import { readForm } from "../../src/cli/commands/demo/stripe-stand-in/form.ts";
import { answerPayPage, pageHeaders } from "../../src/cli/commands/demo/stripe-stand-in/pay-page.ts";
import {
  attempt,
  openStripeStandIn,
  type Reply,
  render,
} from "../../src/cli/commands/demo/stripe-stand-in/stand-in.ts";
import { checkRequest } from "./stripe-rules.ts";

/** A webhook on its way to an endpoint. */
export type Webhook = Record<"url" | "type" | "body" | "secret", string>;
/** A fault of the next call that begins with `match`, such as "POST refunds". It is used once. */
export interface CallFault {
  match: string;
  kind: "cutAfterCommit" | "cutBefore" | "status500" | "status429" | "status403";
}
/** The delivery of all webhooks from now on. With `held`, they wait for `deliver`. */
export type Delivery = "auto" | "held" | "lost";

/** A call of the API, such as "POST refunds", with its parameters as they were sent. */
interface ApiCall {
  call: string;
  text: string;
  headers: IncomingMessage["headers"];
}

const api = (status: number, type: string, message: string) => ({
  status,
  body: JSON.stringify({ error: { type, message } }),
});
const replies = {
  status500: api(500, "api_error", "An error occurred."),
  status429: api(429, "invalid_request_error", "Too many requests."),
  status403: api(403, "invalid_request_error", "The key rk_test_inAnError does not have the permission."),
};

/** Sends a webhook, signed at a time in epoch milliseconds. Returns the HTTP status of the reply, or 0 without one. */
export async function postWebhook({ url, body, secret }: Webhook, now: number): Promise<number> {
  const at = Math.floor(now / 1000);
  const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  const headers = { "Content-Type": "application/json", "Stripe-Signature": `t=${at},v1=${signature}` };
  const init = { method: "POST", body, headers, signal: AbortSignal.timeout(20_000) };
  const reply = await fetch(url, init).catch(() => null);
  return reply?.status ?? 0;
}

/** Registers or removes a webhook endpoint. Returns undefined for other calls. */
function changeEndpoints(books: Books, call: string, text: string): object | undefined {
  if (call === "POST webhook_endpoints") {
    const secret = `whsec_${randomBytes(24).toString("hex")}`;
    const fields = { ...readForm(text), status: "enabled", hidden: { secret } };
    return { ...books.add("webhook_endpoints", "we", fields), secret };
  }
  const [, id] = /^DELETE webhook_endpoints\/(\w+)$/.exec(call) ?? [];
  if (id === undefined) return undefined;
  books.lists.webhook_endpoints = books.lists.webhook_endpoints.filter((one) => one.id !== id);
  return { id, object: "webhook_endpoint", deleted: true };
}

/** Records an event, and returns the webhooks that report it to the enabled endpoints. */
function reportEvent(books: Books, type: string, object: Row): Webhook[] {
  const data = { object: structuredClone(object) };
  const event = books.add("events", "evt", { type, data, pending_webhooks: 0, request: null });
  return books.lists.webhook_endpoints
    .filter(({ status, enabled_events: types }) => status === "enabled" && (types as string[]).includes(type))
    .map(({ url, hidden, api_version }) => {
      return { url: String(url), type, secret: hidden?.secret ?? "", body: render({ ...event, api_version }) };
    });
}

/**
 * Starts the simulated Stripe with webhooks and network faults. The settings `delivery`, `faults` and `pause` can be
 * changed at any time; `pause` runs before each reply. `books.refundsBecome` is the state of new refunds.
 */
export async function startStripe({ now = Date.now, port = 0 }: { now?: () => number; port?: number } = {}) {
  const webhooks: Webhook[] = [];
  const replied: { type: string; status: number }[] = [];
  const sending = new Set<Promise<unknown>>();
  const settings = {
    delivery: "auto" as Delivery,
    faults: [] as CallFault[],
    pause: async (_: ApiCall): Promise<void> => {},
  };
  /** Each call, in order, with the text that was sent. */
  const calls: ApiCall[] = [];

  async function send(webhook: Webhook, at = now()): Promise<number> {
    const sent = postWebhook(webhook, at);
    sending.add(sent);
    const status = await sent.finally(() => sending.delete(sent));
    replied.push({ type: webhook.type, status });
    return status;
  }

  const standIn = openStripeStandIn({
    now,
    page: () => `${url}/c/pay`,
    report: (type, object) => {
      for (const webhook of reportEvent(standIn.books, type, object)) {
        webhooks.push(webhook);
        if (settings.delivery === "auto") void send(webhook);
      }
    },
  });

  function work({ call, text, headers }: ApiCall): Reply {
    const key = headers["idempotency-key"] === undefined ? null : String(headers["idempotency-key"]);
    const isRepeated = key !== null && standIn.books.lists.replies.some((one) => one.key === key);
    const checked = attempt(() => {
      if (!isRepeated) checkRequest(call, text, String(headers["stripe-version"]), Math.floor(now() / 1000));
      return {};
    });
    if (checked.status !== 200) return checked;
    const endpoint = changeEndpoints(standIn.books, call, text);
    if (endpoint) return attempt(() => endpoint);
    return standIn.answer({ call, text, authorization: headers.authorization ?? null, key });
  }

  /** Answers a call, or cuts the connection. */
  async function answerCall(request: ApiCall): Promise<Reply | undefined> {
    calls.push(request);
    await settings.pause(request);
    const index = settings.faults.findIndex(({ match }) => request.call.startsWith(match));
    const [fault] = index < 0 ? [] : settings.faults.splice(index, 1);
    if (fault?.kind === "cutBefore") return undefined;
    if (fault && fault.kind !== "cutAfterCommit") return replies[fault.kind];
    const reply = work(request);
    return fault ? undefined : reply;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    const body = await readText(request);
    const { pathname, search } = new URL(request.url ?? "/", url);
    if (!pathname.startsWith("/v1/")) {
      const act = method === "POST" ? new URLSearchParams(body).get("act") : null;
      const page = answerPayPage(standIn.books, pathname, act, headers["accept-language"] ?? null);
      return void response.writeHead(page.status ?? 200, { ...pageHeaders, ...page.headers }).end(page.html);
    }
    const text = method === "POST" ? body : search.slice(1);
    const reply = await answerCall({ call: `${method} ${pathname.slice(4)}`, text, headers });
    if (!reply) return void request.socket.destroy();
    response.writeHead(reply.status, { "Content-Type": "application/json" }).end(reply.body);
  }

  // This does not use Bun's server, which cannot cut a connection.
  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { books } = standIn;

  return Object.assign(settings, {
    url,
    books,
    calls,
    replied,
    /** All webhooks that Stripe would have sent, in order. */
    webhooks,
    /** Sends a webhook, at any time and any number of times. Returns the status of the reply, or 0 without a reply. */
    deliver: (index: number, at = now()) => send(webhooks[index] as Webhook, at),
    send,
    /** Waits for the replies to all webhooks that are being sent. */
    settle: async () => {
      while (sending.size > 0) await Promise.all(sending);
    },
    pay: (session: string, { async: isProcessing = false } = {}) => books.pay(session, { isProcessing }),
    expire: (session: string) => void books.expire(session),
    settleAsync(id: string, isPaid: boolean): void {
      const session = books.find("checkout/sessions", id);
      const intent = books.find("payment_intents", session.payment_intent);
      if (isPaid) books.take({ session, intent });
      else intent.status = "requires_payment_method";
      books.report(`checkout.session.async_payment_${isPaid ? "succeeded" : "failed"}`, session);
    },
    refundInDashboard: (intent: string, amount?: number, status = "succeeded") =>
      books.refund(intent, { status, ...(amount !== undefined && { amount }) }),
    /** Ends a pending refund. Can also make a refund fail that had succeeded, as banks do weeks later. */
    finishRefund(id: string, status: "succeeded" | "failed" | "canceled"): void {
      const refund = books.find("refunds", id);
      Object.assign(refund, { status, ...(status === "failed" && { failure_reason: "lost_or_stolen_card" }) });
      books.sumRefunds(books.find("charges", refund.charge));
      if (status === "failed") books.report("refund.failed", refund);
      books.report("refund.updated", refund);
    },
    /** The buyer's bank disputes a payment; `warning_needs_response` only asks. */
    dispute(intentId: string, { amount, status = "needs_response" }: { amount?: number; status?: string } = {}) {
      const charge = books.find("charges", books.find("payment_intents", intentId).latest_charge);
      charge.disputed = true;
      const evidence_details = { due_by: books.seconds() + 7 * 86_400, has_evidence: false, past_due: false };
      const links = { charge: charge.id, payment_intent: intentId, currency: charge.currency };
      const fields = { ...links, amount: amount ?? charge.amount, status, reason: "fraudulent", evidence_details };
      const dispute = books.add("disputes", "du", fields);
      books.report("charge.dispute.created", dispute);
      return dispute;
    },
    /** Changes the state of a dispute; `won`, `lost` and `warning_closed` end it. */
    moveDispute(id: string, status: string): void {
      const dispute = Object.assign(books.find("disputes", id), { status });
      const isOver = ["won", "lost", "warning_closed"].includes(status);
      books.report(`charge.dispute.${isOver ? "closed" : "updated"}`, dispute);
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  });
}
export type Stripe = Awaited<ReturnType<typeof startStripe>>;
