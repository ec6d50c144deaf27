import { type Account, Books, type Line, type ListName, type Row } from "./books.ts";
import { type Form, Refusal, readForm } from "./form.ts";

/** A request to the API. `call` is method and path, such as "POST refunds"; `key` is its `Idempotency-Key`. */
export type ApiRequest = { call: string; text: string } & Record<"authorization" | "key", string | null>;
export type Reply = { status: number; body: string };

/**
 * Simulates the parts of Stripe's API that the server uses, for the demo and tests. All keys belong to one account in
 * test mode.
 */
export function openStripeStandIn(account: Account) {
  const books = new Books(account);

  /** Answers a request. For 24 hours, a repeated `Idempotency-Key` gets the same reply, unless it was an error. */
  function work({ call, text, authorization, key }: ApiRequest): object {
    const sent = `${call} ${text}`;
    const before = books.lists.replies.find((one) => one.key === key && one.created > books.seconds() - 86_400);
    if (before?.sent === sent) return before.reply as object;
    if (before) throw new Refusal("The key was used with other parameters.", { type: "idempotency_error" });
    const isKey = /^Bearer [sr]k_(?:test|live)_\w{8,}$/.test(authorization ?? "");
    if (!isKey) throw new Refusal("Invalid API Key provided", { status: 401 });
    books.expireDue();
    const reply = structuredClone(answer(books, call, readForm(text)));
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

const asForm = (value: unknown) => (typeof value === "object" && value ? (value as Form) : {});
const asList = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : []);

/** Executes a call, and returns the object in the reply. @throws Refusal */
function answer(books: Books, call: string, { expand, ...given }: Form): object {
  const [, list = "", id = ""] = /^GET (checkout\/sessions|\w+)(?:\/(\w+))?$/.exec(call) ?? [];
  if (Object.hasOwn(books.lists, list)) {
    if (!id) return listRows(books.lists[list as ListName], given);
    const row = books.find(list as ListName, id);
    return expand === undefined ? row : withPayment(books, row);
  }
  if (call === "GET account") return books.profile;
  if (call === "POST checkout/sessions") return createSession(books, given);
  if (call === "POST refunds") return createRefund(books, given);
  const [, session] = /^POST checkout\/sessions\/(\w+)\/expire$/.exec(call) ?? [];
  if (session) return books.expire(session);
  throw new Refusal(`Unrecognized request URL (${call}).`, { status: 404 });
}

/** Returns a session with its payment intent and charge instead of their ids, as Stripe's parameter `expand` asks. */
function withPayment({ lists }: Books, session: Row): object {
  const intent = lists.payment_intents.find(({ id }) => id === session.payment_intent);
  if (!intent) return session;
  const charge = lists.charges.find(({ id }) => id === intent.latest_charge) ?? null;
  return { ...session, payment_intent: { ...intent, latest_charge: charge } };
}

function listRows(rows: Row[], { limit = "10", starting_after, created, types, ...filters }: Form) {
  const { gte = 0, lte = Number.POSITIVE_INFINITY } = asForm(created);
  const isWanted = (row: Row) =>
    Object.entries(filters).every(([name, value]) => row[name] === value) &&
    (types === undefined || asList(types).includes(row.type)) &&
    row.created >= Number(gte) &&
    row.created <= Number(lte);
  const found = rows.toReversed().filter(isWanted);
  const rest = found.slice(starting_after ? found.findIndex(({ id }) => id === starting_after) + 1 : 0);
  const data = rest.slice(0, Number(limit));
  return { object: "list", url: "/v1", has_more: rest.length > data.length, data };
}

function createRefund(books: Books, { payment_intent, amount, metadata }: Form): Row {
  const sum = amount !== undefined && { amount: Number(amount) };
  return books.refund(String(payment_intent), { ...sum, metadata: asForm(metadata) });
}

function createSession(books: Books, given: Form): Row {
  const { line_items, payment_intent_data, expires_at = books.seconds() + 86_400, ...kept } = given;
  const lines = asList(line_items).map(readLine);
  const amount_total = lines.reduce((sum, line) => sum + line.amount_total, 0);
  if (!(amount_total >= 50)) throw new Refusal("The total must be at least 50 cents.", { code: "amount_too_small" });
  const sums = { amount_total, currency: lines[0]?.currency, expires_at: Number(expires_at) };
  const state = { status: "open", payment_status: "unpaid", payment_intent: null };
  const fields = { ...kept, ...sums, ...state, hidden: { lines, intent: asForm(payment_intent_data) } };
  const session = books.add("checkout/sessions", "cs_test", fields);
  return Object.assign(session, { url: `${books.account.page()}/${session.id}` });
}

function readLine(given: unknown): Line {
  const { price_data, quantity } = asForm(given);
  const { currency, unit_amount, product_data } = asForm(price_data);
  const line = { description: String(asForm(product_data).name), currency: String(currency) };
  return { ...line, quantity: Number(quantity), amount_total: Number(unit_amount) * Number(quantity) };
}
