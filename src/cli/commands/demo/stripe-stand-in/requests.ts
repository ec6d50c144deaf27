import { randomBytes } from "node:crypto";
import type { Books, Line, ListName, Row } from "./books.ts";
import { type Form, Refusal } from "./form.ts";

/** Stripe does not take these currencies. */
const refused = new Set("cup ern ghs irr kpw lyd mru sdg ssp syp ves xts xxx".split(" "));
/** The smallest amounts in Stripe's units; 50 in others. */
const smallest: Record<string, number> = { aed: 200, czk: 1500, dkk: 250, gbp: 30, hkd: 400, huf: 17_500, sek: 300 };
const sessionFields = /^(?:mode|client_reference_id|customer_email|metadata|locale|adaptive_pricing)$/;
const listFilters = /^(?:payment_intent|charge|status|type)$/;
const account = {
  ...{ id: "acct_standin", object: "account", country: "DE", default_currency: "eur", charges_enabled: true },
  settings: { dashboard: { display_name: "Test payments", timezone: "Etc/UTC" } },
};

interface Asked {
  page: string;
  version: string;
}

const asForm = (value: unknown) => (typeof value === "object" && value ? (value as Form) : {});
const asList = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : []);

function refuseUnknown(given: object, known: RegExp): void {
  const param = Object.keys(given).find((name) => !known.test(name));
  if (param) throw new Refusal(`Received unknown parameter: ${param}`, { param, code: "parameter_unknown" });
}

function asInteger(value: unknown, param: string): number {
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value);
  throw new Refusal(`Invalid integer: ${value}`, { param, code: "parameter_invalid_integer" });
}

function asUrl(value: unknown, param: string): string {
  if (typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value)) return value;
  throw new Refusal("Not a valid URL", { param, code: "url_invalid" });
}

/**
 * Answers a request to `/v1/` from the books; `call` is such as "POST refunds". `page` is the address of the page to pay on.
 * @throws Refusal
 */
export function answer(books: Books, call: string, form: Form, { page, version }: Asked): object {
  const { expand, ...given } = form;
  const [, method, path = "", id = "", verb] =
    /^(\w+) (checkout\/sessions|\w+)(?:\/(\w+))?(?:\/(\w+))?$/.exec(call) ?? [];
  const show = (row: Row): Row =>
    asList(expand).reduce<Row>(
      (shown, way) =>
        expandRow(
          books,
          shown,
          String(way)
            .replace(/^data\./, "")
            .split("."),
        ),
      row,
    );
  switch (`${method} ${path}${id && "/:id"}${verb ? `/${verb}` : ""}`) {
    case "GET account":
      return account;
    case "POST checkout/sessions":
      return show(createSession(books, given, { page, version }));
    case "POST checkout/sessions/:id/expire":
      return show(books.expire(id));
    case "POST webhook_endpoints":
      return createEndpoint(books, given);
    case "POST webhook_endpoints/:id":
      return Object.assign(books.find("webhook_endpoints", id), given);
    case "DELETE webhook_endpoints/:id":
      books.lists.webhook_endpoints = books.lists.webhook_endpoints.filter((one) => one.id !== id);
      return { id, object: "webhook_endpoint", deleted: true };
    case "POST refunds":
      return show(createRefund(books, given));
    case `GET ${path in books.lists ? path : undefined}`:
      return listRows(books.lists[path as ListName], given, show);
    case `GET ${path in books.lists ? path : undefined}/:id`:
      return show(books.find(path as ListName, id));
    default:
      throw new Refusal(`Unrecognized request URL (${call}).`, { status: 404 });
  }
}

/** Replaces an id by its object, as `expand` asks. */
function expandRow(books: Books, row: Row, [field = "", ...rest]: string[]): Row {
  const list = { payment_intent: "payment_intents", latest_charge: "charges", charge: "charges" } as const;
  if (!Object.hasOwn(list, field)) throw new Refusal(`This property cannot be expanded (${field}).`);
  const { [field]: value } = row;
  if (value === null) return row;
  const inner = typeof value === "string" ? books.find(list[field as keyof typeof list], value) : (value as Row);
  return { ...row, [field]: rest.length > 0 ? expandRow(books, inner, rest) : inner } as Row;
}

function listRows(rows: Row[], given: Form, show: (row: Row) => Row) {
  const { limit = "10", starting_after, created, types, ...filters } = given;
  refuseUnknown(filters, listFilters);
  const { gte = 0, lte = Number.POSITIVE_INFINITY } = asForm(created);
  const found = rows.toReversed().filter((row) => {
    const isWanted = Object.entries(filters).every(([name, value]) => row[name] === value);
    if (types !== undefined && !asList(types).includes(row.type)) return false;
    return isWanted && row.created >= Number(gte) && row.created <= Number(lte);
  });
  const rest = found.slice(starting_after ? found.findIndex(({ id }) => id === starting_after) + 1 : 0);
  const data = rest.slice(0, asInteger(limit, "limit")).map(show);
  return { object: "list", url: "/v1", has_more: rest.length > data.length, data };
}

function createEndpoint(books: Books, given: Form) {
  const url = asUrl(given.url, "url");
  if (asList(given.enabled_events).length === 0)
    throw new Refusal("Missing enabled_events.", { param: "enabled_events" });
  const secret = `whsec_${randomBytes(24).toString("hex")}`;
  const fields = { api_version: null, ...given, url, status: "enabled", hidden: { secret } };
  return { ...books.add("webhook_endpoints", "we", fields), secret };
}

function createRefund(books: Books, { payment_intent, charge, amount, metadata }: Form): Row {
  const sum = amount === undefined ? {} : { amount: asInteger(amount, "amount") };
  return books.refund(String(payment_intent ?? charge), { ...sum, metadata: asForm(metadata) });
}

function createSession(books: Books, given: Form, { page, version }: Asked): Row {
  const { line_items, payment_intent_data, success_url, cancel_url, expires_at, ...kept } = given;
  // Version 2026-09-30 gave the list of methods another name.
  const { [version < "2026-09-30" ? "payment_method_types" : "allowed_payment_method_types"]: _, ...others } = kept;
  refuseUnknown(others, sessionFields);
  if (kept.mode !== "payment") throw new Refusal("Missing required param: mode.", { param: "mode" });
  const { customer_email: email } = kept;
  if (email !== undefined && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(email))) {
    throw new Refusal(`Invalid email address: ${email}`, { param: "customer_email", code: "email_invalid" });
  }
  const now = books.seconds();
  const end = expires_at === undefined ? now + 86_400 : asInteger(expires_at, "expires_at");
  if (end < now + 1800 || end > now + 86_400) {
    throw new Refusal("`expires_at` must be between 30 minutes and 24 hours from now.", { param: "expires_at" });
  }
  const urls = { success_url: asUrl(success_url, "success_url"), cancel_url: asUrl(cancel_url, "cancel_url") };
  const { lines, ...sums } = readLines(line_items);
  const state = { status: "open", payment_status: "unpaid", payment_intent: null, expires_at: end };
  const hidden = { lines, intent: asForm(payment_intent_data) };
  const session = books.add("checkout/sessions", "cs_test", { ...kept, ...urls, ...sums, ...state, hidden });
  return Object.assign(session, { url: `${page}/${session.id}` });
}

function readLines(given: unknown) {
  const lines = asList(given).map(readLine);
  const { currency = "" } = lines[0] ?? {};
  if (lines.length === 0 || lines.length > 100 || lines.some((one) => one.currency !== currency)) {
    throw new Refusal("Give 1 to 100 lines in one currency.", { param: "line_items" });
  }
  const amount_total = lines.reduce((sum, line) => sum + line.amount_total, 0);
  const small = "The Checkout Session's total amount due must add up to at least 50 cents.";
  if (amount_total < (smallest[currency] ?? 50)) throw new Refusal(small, { code: "amount_too_small" });
  if (amount_total > 99_999_999) throw new Refusal("The amount is too large.", { code: "amount_too_large" });
  return { lines, currency, amount_total };
}

function readLine(given: unknown, index: number): Line {
  const { price_data, quantity } = asForm(given);
  const { currency, unit_amount, product_data } = asForm(price_data);
  const { name } = asForm(product_data);
  const param = `line_items[${index}]`;
  const [unit, count] = [asInteger(unit_amount, `${param}[price_data]`), asInteger(quantity, `${param}[quantity]`)];
  const code = String(currency);
  const isSplit = /isk|ugx/.test(code) && unit % 100 !== 0;
  if (typeof name !== "string" || name === "") throw new Refusal("Missing name.", { param: `${param}[price_data]` });
  if (count < 1 || isSplit) throw new Refusal("Invalid integer", { param, code: "parameter_invalid_integer" });
  if (!/^[a-z]{3}$/.test(code) || refused.has(code)) throw new Refusal(`Invalid currency: ${code}`, { param });
  return { description: name, quantity: count, currency: code, amount_total: unit * count };
}
