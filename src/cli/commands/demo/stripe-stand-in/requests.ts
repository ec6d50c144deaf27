import { randomBytes } from "node:crypto";
import type { Books, Line, ListName, Row } from "./books.ts";
import { type Form, Refusal } from "./form.ts";

const account = { id: "acct_standin", object: "account", country: "DE", default_currency: "eur" };
const asForm = (value: unknown) => (typeof value === "object" && value ? (value as Form) : {});
const asList = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : []);

/**
 * Answers a request to `/v1/`. `call` is such as "POST refunds", `page` the address of the payment page.
 * @throws Refusal
 */
export function answer(books: Books, call: string, { expand, ...given }: Form, page: string): object {
  const ways = asList(expand).map((way) => String(way).split("."));
  const show = (row: Row): Row => ways.reduce((shown, way) => expandRow(books, shown, way), row);
  const [, list = "", id = ""] = /^GET (checkout\/sessions|\w+)(?:\/(\w+))?$/.exec(call) ?? [];
  if (Object.hasOwn(books.lists, list)) {
    return id ? show(books.find(list as ListName, id)) : listRows(books.lists[list as ListName], given);
  }
  if (call === "GET account") return account;
  if (call === "POST checkout/sessions") return show(createSession(books, given, page));
  if (call === "POST webhook_endpoints") return createEndpoint(books, given);
  if (call === "POST refunds") return show(createRefund(books, given));
  const [, endpoint, session] =
    /^(?:DELETE webhook_endpoints\/(\w+)|POST checkout\/sessions\/(\w+)\/expire)$/.exec(call) ?? [];
  if (session) return show(books.expire(session));
  if (!endpoint) throw new Refusal(`Unrecognized request URL (${call}).`, { status: 404 });
  books.lists.webhook_endpoints = books.lists.webhook_endpoints.filter((one) => one.id !== endpoint);
  return { id: endpoint, object: "webhook_endpoint", deleted: true };
}

/** Replaces the id in a field of the row by the object with this id, as Stripe's parameter `expand` asks. */
function expandRow(books: Books, row: Row, [field = "", ...rest]: string[]): Row {
  const list = { payment_intent: "payment_intents", latest_charge: "charges" } as const;
  if (!Object.hasOwn(list, field)) throw new Refusal(`This property cannot be expanded (${field}).`);
  const { [field]: value } = row;
  if (value === null) return row;
  const inner = typeof value === "string" ? books.find(list[field as keyof typeof list], value) : (value as Row);
  return { ...row, [field]: rest.length > 0 ? expandRow(books, inner, rest) : inner } as Row;
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

function createEndpoint(books: Books, given: Form) {
  const secret = `whsec_${randomBytes(24).toString("hex")}`;
  return { ...books.add("webhook_endpoints", "we", { ...given, status: "enabled", hidden: { secret } }), secret };
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
