import type { Books, Line, ListName, Row } from "./books.ts";
import { type Form, Refusal } from "./form.ts";

const account = { id: "acct_standin", object: "account", country: "DE", default_currency: "eur" };
const asForm = (value: unknown) => (typeof value === "object" && value ? (value as Form) : {});
const asList = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : []);

/** Answers a call such as "POST refunds". `page` is the address of the payment page. @throws Refusal */
export function answer(books: Books, call: string, { expand, ...given }: Form, page: string): object {
  const [, list = "", id = ""] = /^GET (checkout\/sessions|\w+)(?:\/(\w+))?$/.exec(call) ?? [];
  if (Object.hasOwn(books.lists, list)) {
    if (!id) return listRows(books.lists[list as ListName], given);
    const row = books.find(list as ListName, id);
    return expand === undefined ? row : withPayment(books, row);
  }
  if (call === "GET account") return account;
  if (call === "POST checkout/sessions") return createSession(books, given, page);
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

function createSession(books: Books, given: Form, page: string): Row {
  const { line_items, payment_intent_data, expires_at = books.seconds() + 86_400, ...kept } = given;
  const lines = asList(line_items).map(readLine);
  const amount_total = lines.reduce((sum, line) => sum + line.amount_total, 0);
  const sums = { amount_total, currency: lines[0]?.currency, expires_at: Number(expires_at) };
  const state = { status: "open", payment_status: "unpaid", payment_intent: null };
  const fields = { ...kept, ...sums, ...state, hidden: { lines, intent: asForm(payment_intent_data) } };
  const session = books.add("checkout/sessions", "cs_test", fields);
  return Object.assign(session, { url: `${page}/${session.id}` });
}

function readLine(given: unknown): Line {
  const { price_data, quantity } = asForm(given);
  const { currency, unit_amount, product_data } = asForm(price_data);
  const line = { description: String(asForm(product_data).name), currency: String(currency) };
  return { ...line, quantity: Number(quantity), amount_total: Number(unit_amount) * Number(quantity) };
}
