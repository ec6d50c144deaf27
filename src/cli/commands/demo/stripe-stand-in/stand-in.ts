import { type Account, Books } from "./books.ts";
import { Refusal, readForm } from "./form.ts";
import { answer } from "./requests.ts";

/** A request to the API. `call` is method and path, such as "POST refunds"; `key` is its `Idempotency-Key`. */
export type ApiRequest = { call: string; text: string } & Record<"authorization" | "key", string | null>;
export type Reply = { status: number; body: string };

/**
 * Opens a stand-in of Stripe, for the demo and tests: the parts of its API that the server uses. All keys belong to one
 * account in test mode. `page` returns the address of the payment page, without the id of a session.
 */
export function openStripeStandIn({ page, ...account }: Account & { page: () => string }) {
  const books = new Books(account);

  /** Works once for each `Idempotency-Key`, for 24 hours. A refused request is not kept. */
  function work({ call, text, authorization, key }: ApiRequest): object {
    const sent = `${call} ${text}`;
    const before = books.lists.replies.find((one) => one.key === key && one.created > books.seconds() - 86_400);
    if (before?.sent === sent) return before.reply as object;
    if (before) throw new Refusal("The key was used with other parameters.", { type: "idempotency_error" });
    const isKey = /^Bearer [sr]k_(?:test|live)_\w{8,}$/.test(authorization ?? "");
    if (!isKey) throw new Refusal("Invalid API Key provided", { status: 401 });
    books.expireDue();
    const reply = structuredClone(answer(books, call, readForm(text), page()));
    if (key !== null) books.add("replies", "rep", { key, sent, reply });
    return reply;
  }

  return { books, answer: (request: ApiRequest): Reply => attempt(() => work(request)) };
}

export const render = (value: object) => JSON.stringify(value, (name, part) => (name === "hidden" ? undefined : part));

/** Returns the reply with the result of `work`, or with the error that it throws. */
export function attempt(work: () => object): Reply {
  try {
    return { status: 200, body: render(work()) };
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: render(error.body) };
    return { status: 500, body: render({ error: { type: "api_error", message: String(error) } }) };
  }
}
