import { type Form, Refusal, readForm } from "../../src/cli/commands/demo/stripe-stand-in/form.ts";

/** Stripe does not accept these currencies. */
const refused = new Set("cup ern ghs irr kpw lyd mru sdg ssp syp ves xts xxx".split(" "));
/** The smallest amounts in Stripe's units; 50 in others. */
const smallest: Record<string, number> = { aed: 200, czk: 1500, dkk: 250, gbp: 30, hkd: 400, huf: 17_500, sek: 300 };
const known: Record<string, RegExp> = {
  "POST checkout/sessions":
    /^(?:mode|client_reference_id|customer_email|metadata|locale|adaptive_pricing|line_items|payment_intent_data|success_url|cancel_url|expires_at|expand)$/,
  "POST refunds": /^(?:payment_intent|charge|amount|metadata|reason|expand)$/,
};
const day = 86_400;

const asForm = (value: unknown) => (typeof value === "object" && value ? (value as Form) : {});

function asInteger(value: unknown, param: string): number {
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value);
  throw new Refusal(`Invalid integer: ${value}`, { param, code: "parameter_invalid_integer" });
}

/** Refuses the parameters of a request that Stripe refuses. @param seconds the time. @throws Refusal */
export function checkRequest(call: string, text: string, version: string, seconds: number): void {
  // Version 2026-09-30 gave the list of methods another name.
  const methods = version < "2026-09-30" ? "payment_method_types" : "allowed_payment_method_types";
  const { [call === "POST checkout/sessions" ? methods : ""]: _, ...form } = readForm(text);
  const param = Object.keys(form).find((name) => known[call] && !known[call].test(name));
  if (param) throw new Refusal(`Received unknown parameter: ${param}`, { param, code: "parameter_unknown" });
  if (form.amount !== undefined) asInteger(form.amount, "amount");
  if (call !== "POST checkout/sessions") return;
  if (form.mode !== "payment") throw new Refusal("Missing required param: mode.", { param: "mode" });
  for (const name of ["success_url", "cancel_url"]) {
    const isUrl = /^https?:\/\//.test(String(form[name])) && URL.canParse(String(form[name]));
    if (!isUrl) throw new Refusal("Not a valid URL", { param: name, code: "url_invalid" });
  }
  const { customer_email: email } = form;
  if (email !== undefined && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(email))) {
    throw new Refusal(`Invalid email address: ${email}`, { param: "customer_email", code: "email_invalid" });
  }
  const end = form.expires_at === undefined ? seconds + day : asInteger(form.expires_at, "expires_at");
  if (end < seconds + 1800 || end > seconds + day) {
    throw new Refusal("`expires_at` must be between 30 minutes and 24 hours from now.", { param: "expires_at" });
  }
  checkLines(form.line_items);
}

function checkLines(given: unknown): void {
  const lines = (Array.isArray(given) ? given : []).map(readLine);
  const { currency = "" } = lines[0] ?? {};
  if (lines.length === 0 || lines.length > 100 || lines.some((one) => one.currency !== currency)) {
    throw new Refusal("Give 1 to 100 lines in one currency.", { param: "line_items" });
  }
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  const small = "The Checkout Session's total amount due must add up to at least 50 cents.";
  if (total < (smallest[currency] ?? 50)) throw new Refusal(small, { code: "amount_too_small" });
  if (total > 99_999_999) throw new Refusal("The amount is too large.", { code: "amount_too_large" });
}

function readLine(given: unknown, index: number) {
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
  return { currency: code, amount: unit * count };
}
