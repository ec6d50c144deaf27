import { optionalMailKinds } from "../../../server/modules/mail/kinds.ts";
import type { TenantInput } from "../../../server/modules/tenants/input.ts";
import { type ArgValues, type CommandArgs, choiceArg, numberArg, valueArg } from "../../framework/args.ts";
import { parseDecimal, parseDuration, parsePair, parseWhole } from "../../framework/parse-values.ts";
import { invalidFlag } from "../../terminal/console.ts";

/** Reads a size such as `500MiB` or `1.5 GiB`. Returns bytes. */
function parseSize(flag: string, text: string): number {
  const [, amount, unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?) ?([KMGT])iB$/i.exec(text) ?? [];
  if (amount !== undefined) return Math.round(Number(amount) * 1024 ** ("KMGT".indexOf(unit.toUpperCase()) + 1));
  throw invalidFlag(flag, "must be a size such as 500MiB or 20GiB");
}

const orNone = (noun: string) => ({
  parse: (flag: string, text: string) => (text === "none" ? null : parseWhole(flag, text, `${noun}, or none`)),
});
const secondsArg = (description: string) =>
  valueArg("duration", description, { parse: (flag: string, text: string) => parseDuration(flag, text) / 1000 });

export const tenantFlags = {
  title: valueArg("text", "Name of the store"),
  domain: valueArg("host", "Host name of the store", { allowEmpty: true }),
  url: valueArg("url", "URL of the store's website", { allowEmpty: true }),
  currency: valueArg("code", "Currency of prices, an ISO 4217 code such as EUR"),
  "currency-sign": valueArg("sign", "Currency sign (default: the usual one)"),
  logo: valueArg("url", "URL of the logo", { allowEmpty: true }),
  language: valueArg("tag", "Default language of texts, such as en or pt-BR"),
  "token-lifetime": secondsArg("Lifetime of new user tokens, such as 12h or 30d (5m to 400d; default: 30d)"),
  "points-rate": valueArg("number", "Points for 100 minor units (1.00 EUR) paid, such as 1.5 or 0 (default: 1)", {
    parse: parseDecimal,
  }),
  "point-value": valueArg("amount", "Value of a point when it is spent, such as 0.01 (default: one minor unit)", {
    parse: parseDecimal,
  }),
  "points-days": valueArg("days", "Days until new points expire, or `none` (default)", orNone("days")),
  "address-writes": numberArg(
    "writes per minute",
    "Maximum likes, bookmarks, views and registrations per minute of an IP address; 0: no limit (default: 1200)",
  ),
  "visitor-writes": numberArg(
    "writes per minute",
    "Maximum likes, bookmarks, views and registrations per minute of a visitor or user (default: 240)",
  ),
  "pending-orders": numberArg("orders", "Maximum unpaid orders per customer or guest's IP; 0: no limit (default: 5)"),
  "stock-share": numberArg(
    "percent",
    "Percent of an item's stock that one buyer's unpaid orders can reserve, or 10 pieces if that is more (default: 20)",
  ),
  "orders-per-minute": numberArg(
    "orders per minute",
    "Maximum orders per minute of a customer or guest's IP; 0: no limit (default: 10)",
  ),
  "media-quota": valueArg("size", "Space for uploaded pictures, such as 500MiB or 20GiB (default: 1GiB)", {
    parse: parseSize,
  }),
  "sign-up": choiceArg(
    ["off", "open", "verified"],
    "Whether customers can create accounts; verified: only with a mailed code (default: verified)",
  ),
  "sign-in-by-mail": choiceArg(["off", "on"], "Whether customers can sign in with a mailed code (default: off)"),
  country: valueArg("code", "Country of the store, such as DE: its taxes apply to orders without an address", {
    allowEmpty: true,
  }),
  timezone: valueArg("name", "Time zone of the store, such as Europe/Berlin (default: UTC)"),
  "prices-include-tax": choiceArg(["yes", "no"], "Whether prices include tax (default: yes)"),
  "tax-note": valueArg("text", "Text in place of `incl. VAT`, for stores that charge no tax", { allowEmpty: true }),
  hold: secondsArg("How long an unpaid order reserves stock, such as 60m (1m to 30d; default: 1h)"),
  "transfer-hold": secondsArg("How long an unpaid order reserves stock if it is paid by bank transfer (default: 7d)"),
  "long-hold-share": numberArg(
    "percent",
    "Percent of an item's stock that the orders of all visitors together can reserve for more than 1h (default: 50)",
  ),
  "transfer-instructions": valueArg("text", "How to pay by bank transfer: account holder, IBAN, bank", {
    allowEmpty: true,
  }),
  "order-url": valueArg("url", "Page that shows a guest's order; mails link to it", { allowEmpty: true }),
  "legal-url": valueArg("name=url", "Legal page, such as imprint=https://shop.example/imprint; imprint= removes it", {
    multiple: true,
  }),
  "low-stock-at": valueArg("pieces", "Available pieces at which stock is low, or `none` (default)", orNone("pieces")),
  "mails-off": {
    ...choiceArg([...optionalMailKinds, "none"], "Kind of mail that the store does not send; `none` sends all kinds"),
    multiple: true,
  },
  "invoice-from": valueArg("text", "Seller on invoices: name, address, VAT or tax number, each on a line of its own", {
    allowEmpty: true,
  }),
  notify: valueArg("email", "Address for mail about new orders, low stock and problems; or `owners` (default)", {
    multiple: true,
  }),
  "keep-invoices": valueArg(
    "years",
    "Years to keep the buyer's data in ended orders, counted from the end of the year of the last change (default: 8y)",
    { parse: (flag: string, text: string) => parseWhole(flag, text.replace(/y$/, ""), "years, such as 8y") },
  ),
} as const satisfies CommandArgs;

export const updateFlags = {
  ...tenantFlags,
  "resource-type": valueArg(
    "type",
    "Declare a type of resources that can be liked, bookmarked and viewed, such as article",
    { multiple: true },
  ),
  "remove-resource-type": valueArg("type", "Remove a declared type that has no likes, bookmarks and views", {
    multiple: true,
  }),
} as const satisfies CommandArgs;

export function readTenantFlags(args: ArgValues<typeof tenantFlags>): TenantInput {
  const camelCase = (flag: string) => flag.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const flags = Object.keys(tenantFlags) as (keyof typeof tenantFlags)[];
  const needs = "a name and an address, such as imprint=https://shop.example/imprint";
  const urls = args["legal-url"].map((text) => parsePair("--legal-url", text, needs));
  const given = { ...args, "legal-url": undefined };
  const jsonOf = (list: readonly string[], byDefault: string) =>
    list.length > 0 ? JSON.stringify(list.filter((one) => one !== byDefault)) : undefined;
  return {
    ...Object.fromEntries(flags.map((flag) => [camelCase(flag), given[flag]])),
    mailsOff: jsonOf(args["mails-off"], "none"),
    notify: jsonOf(args.notify, "owners"),
    ...(urls.length > 0 && { legalUrls: JSON.stringify(Object.fromEntries(urls)) }),
  };
}
