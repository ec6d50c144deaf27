import { createHmac } from "node:crypto";
import { Books, type Row } from "./books.ts";
import { Refusal, readForm } from "./form.ts";
import { answer } from "./requests.ts";

/** A webhook on its way to an endpoint. */
export type Webhook = Record<"url" | "type" | "body" | "secret", string>;
/** A request to the API. `call` is method and path, such as "POST refunds"; `key` is its `Idempotency-Key`. */
export type ApiRequest = { call: string; text: string } & Record<"authorization" | "key", string | null>;
export type Reply = { status: number; body: string };

interface Options {
  /** Epoch milliseconds. */
  now: () => number;
  /** The address of the payment page, without the id of a session. */
  page: () => string;
  send: (webhook: Webhook) => void;
}

/**
 * Opens a stand-in of Stripe, for the demo and tests: the parts of its API that the server uses, a page to pay on, and
 * signed webhooks. All keys belong to one account in test mode.
 */
export function openStripeStandIn({ now, page, send }: Options) {
  const tell = ({ lists }: Books, event: Row) => {
    for (const { url, enabled_events: types, hidden, api_version, status } of lists.webhook_endpoints) {
      const isWanted = status === "enabled" && (types as unknown[]).includes(event.type);
      const webhook = { url: String(url), type: String(event.type), secret: hidden?.secret ?? "" };
      if (isWanted) send({ ...webhook, body: render({ ...event, api_version }) });
    }
  };
  const books = new Books({ now, tell });

  function work({ call, text, authorization }: Omit<ApiRequest, "key">): object {
    const isKey = /^Bearer [sr]k_(?:test|live)_\w{8,}$/.test(authorization ?? "");
    if (!isKey) throw new Refusal("Invalid API Key provided", { status: 401 });
    books.expireDue();
    return answer(books, call, readForm(text), page());
  }

  /** Works once for each `Idempotency-Key`, for 24 hours. A refused request is not kept. */
  function workOnce({ key, ...request }: ApiRequest): object {
    const sent = `${request.call} ${request.text}`;
    const before = books.lists.replies.find((one) => one.key === key && one.created > books.seconds() - 86_400);
    if (before?.sent === sent) return before.reply as object;
    if (before) throw new Refusal("The key was used with other parameters.", { type: "idempotency_error" });
    const reply = structuredClone(work(request));
    if (key !== null) books.add("replies", "rep", { key, sent, reply });
    return reply;
  }

  return { books, answer: (request: ApiRequest): Reply => attempt(() => workOnce(request)) };
}

const render = (value: object) => JSON.stringify(value, (name, part) => (name === "hidden" ? undefined : part));

/** Returns the reply with the result of `work`, or with the error that it throws. */
export function attempt(work: () => object): Reply {
  try {
    return { status: 200, body: render(work()) };
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: render(error.body) };
    return { status: 500, body: render({ error: { type: "api_error", message: String(error) } }) };
  }
}

/** Sends a webhook, signed at a time in epoch milliseconds. Returns the HTTP status of the reply; 0 if none came. */
export async function postWebhook({ url, body, secret }: Webhook, now: number): Promise<number> {
  const at = Math.floor(now / 1000);
  const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  const headers = { "Content-Type": "application/json", "Stripe-Signature": `t=${at},v1=${signature}` };
  const reply = await fetch(url, { method: "POST", body, headers, signal: AbortSignal.timeout(20_000) }).catch(
    () => null,
  );
  return reply?.status ?? 0;
}
