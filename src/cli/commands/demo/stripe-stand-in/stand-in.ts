import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { addressOf } from "../../../../server/runtime/port.ts";
import { Books, type Row } from "./books.ts";
import { Refusal, readForm } from "./form.ts";
import { answerPayPage, type Page } from "./pay-page.ts";
import { answer } from "./requests.ts";

/** A webhook on its way to an endpoint. */
export type Webhook = Record<"url" | "type" | "body" | "secret", string>;
type Reply = { status: number; body: string };
/** A request of the API. `call` is such as "POST refunds". */
export type ApiRequest = { call: string; text: string; headers: IncomingMessage["headers"] };
interface Options {
  host?: string;
  port?: number;
  /** Epoch milliseconds. */
  now?: () => number;
  /** Runs the work of a request. Without a reply, it cuts the connection. */
  around?: (request: ApiRequest, work: () => Reply) => Promise<Reply | undefined>;
  send?: (webhook: Webhook) => void;
  /** Further pages of the server, by path. */
  page?: (path: string) => Promise<Page | undefined>;
}

const pageHeaders = {
  "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
  "Content-Type": "text/html; charset=utf-8",
};

/**
 * Starts a stand-in of Stripe on loopback, for the demo and tests: the parts of its API that the server uses, a page to
 * pay on, and signed webhooks. All keys belong to one account; its test mode and its live mode have books of their own.
 */
export async function startStripeStandIn(options: Options = {}) {
  const { host = "127.0.0.1", port = 0, now = Date.now, around = async (_, work) => work(), page } = options;
  const { send = (webhook: Webhook) => void postWebhook(webhook, now()) } = options;
  const tell = ({ lists }: Books, event: Row) => {
    for (const { url, enabled_events: types, hidden, api_version, status } of lists.webhook_endpoints) {
      const isWanted = status === "enabled" && (types as unknown[]).includes(event.type);
      const webhook = { url: String(url), type: String(event.type), secret: hidden?.secret ?? "" };
      if (isWanted) send({ ...webhook, body: render({ ...event, api_version }) });
    }
  };
  const test = new Books({ livemode: false, now, tell });
  const live = new Books({ livemode: true, now, tell });
  const kept = new Map<string, { text: string; reply: Reply; until: number }>();

  function work({ call, text, headers }: ApiRequest): Reply {
    const [, mode] = /^Bearer [sr]k_(test|live)_\w{8,}$/.exec(headers.authorization ?? "") ?? [];
    const books = mode === "live" ? live : test;
    books.expireDue();
    return attempt(() => {
      if (mode === undefined) throw new Refusal("Invalid API Key provided", { status: 401 });
      return answer(books, call, readForm(text), `${url}/c/pay`);
    });
  }

  /** Works once for each `Idempotency-Key`, for 24 hours. A refused request is not kept. */
  function workOnce(request: ApiRequest): Reply {
    const key = String(request.headers["idempotency-key"] ?? "");
    const text = `${request.call} ${request.text}`;
    const before = kept.get(key);
    if (before && before.until > now()) {
      if (before.text === text) return before.reply;
      const message = "Keys for idempotent requests can only be used with the same parameters.";
      return { status: 400, body: render({ error: { type: "idempotency_error", message } }) };
    }
    const reply = work(request);
    if (key && reply.status === 200) kept.set(key, { text, reply, until: now() + 86_400_000 });
    return reply;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    const body = await text(request);
    const { pathname, search } = new URL(request.url ?? "/", url);
    if (!pathname.startsWith("/v1/")) {
      const act = method === "POST" ? new URLSearchParams(body).get("act") : null;
      const own = () => answerPayPage(test, pathname, act, headers["accept-language"] ?? "");
      const { status = 200, html, headers: more } = (await page?.(pathname)) ?? own();
      return void response.writeHead(status, { ...pageHeaders, ...more }).end(html);
    }
    const asked = { call: `${method} ${pathname.slice(4)}`, text: method === "POST" ? body : search.slice(1), headers };
    const reply = await around(asked, () => workOnce(asked));
    if (!reply) return void request.socket.destroy();
    response.writeHead(reply.status, { "Content-Type": "application/json" }).end(reply.body);
  }

  const server = createServer((request, response) => serve(request, response).catch(() => request.socket.destroy()));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const url = addressOf({ host, port: (server.address() as AddressInfo).port, tls: undefined });
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { url, test, live, stop };
}

const render = (value: object) => JSON.stringify(value, (name, part) => (name === "hidden" ? undefined : part));

/** Answers with the result of work, or with its error. */
export function attempt(work: () => object): Reply {
  try {
    return { status: 200, body: render(work()) };
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: render(error.body) };
    return { status: 500, body: render({ error: { type: "api_error", message: String(error) } }) };
  }
}

/** Sends a webhook, signed at a time in epoch milliseconds. Returns the status of the reply; 0 without one. */
export async function postWebhook({ url, body, secret }: Webhook, now: number): Promise<number> {
  const at = Math.floor(now / 1000);
  const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  const headers = { "Content-Type": "application/json", "Stripe-Signature": `t=${at},v1=${signature}` };
  const sent = fetch(url, { method: "POST", body, headers, signal: AbortSignal.timeout(20_000) });
  return sent.then(
    ({ status }) => status,
    () => 0,
  );
}
