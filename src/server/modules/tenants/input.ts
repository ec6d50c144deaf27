import { invalidField } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { countryExpects, isCountry } from "../../values/country.ts";
import { decimalsOf } from "../../values/currency.ts";
import { parseEmail } from "../../values/email.ts";
import { checkNote, requireText } from "../../values/fields.ts";
import { parseMoney, parseThousandths, toAmount } from "../../values/money.ts";
import type { tenants } from "./table.ts";

type Written = Omit<typeof tenants.$inferInsert, "id" | "namespace" | "status" | "createdAt" | "updatedAt">;

/** Columns of a store. Unlike in the table, `pointsRate` is in points, and `pointValue` in the store's currency. */
export type TenantInput = { [Name in keyof Written]?: Written[Name] | undefined };

/** Maximum `pointValue`, in minor units. With this limit, the total value of all points can be computed exactly. */
const highestValue = 1_000_000;

/** Maximum addresses in `notify`, because each of them gets a mail of its own. */
const maxNotified = 10;

const notAddress = "must be an http or https address";

/** Checks and converts new fields of a store; `before` contains its present ones. Errors: validationFailed. */
export function readFields<Input extends TenantInput>(
  input: Input,
  before: { currency: string; legal_urls: Record<string, string> },
): Input {
  const given: TenantInput = { ...input };
  requireTexts(given);
  requireWholeNumbers(given);
  if (given.language !== undefined) given.language = parseStoreLanguage(given.language);
  if (given.currency !== undefined) {
    given.currency = parseCurrency(given.currency);
    given.currencySign ??= currencySign(given.currency);
  }
  const { currency = before.currency, pointsRate, pointValue } = given;
  if (pointsRate !== undefined) given.pointsRate = parseThousandths("points_rate", pointsRate, [0, 1000], "a number");
  if (pointValue !== undefined) given.pointValue = parsePointValue(pointValue, currency);
  // `pointValue` is in minor units, so a change of the currency resets it to one minor unit.
  else if (currency !== before.currency) given.pointValue = 1;
  if (given.country) given.country = parseCountry(given.country);
  if (given.notify !== undefined) given.notify = parseNotify(given.notify);
  if (given.legalUrls !== undefined) given.legalUrls = mergeLegalUrls(before.legal_urls, given.legalUrls);
  return given as Input;
}

function requireTexts({ title, currencySign, domain, timezone, taxNote, ...given }: TenantInput): void {
  if (title !== undefined) requireText("title", title, 200);
  if (currencySign !== undefined) requireText("currency_sign", currencySign, 8);
  if (domain) requireHost(domain);
  for (const [field, value] of Object.entries({ url: given.url, logo: given.logo, order_url: given.orderUrl })) {
    if (value && !isWebAddress(value)) throw invalidField(field, notAddress);
  }
  if (given.orderUrl?.includes("#")) throw invalidField("order_url", "must not contain #, because mails add one");
  if (timezone !== undefined && !attempt(() => new Intl.DateTimeFormat("en", { timeZone: timezone }))) {
    throw invalidField("timezone", "must be the name of a time zone, such as Europe/Berlin");
  }
  if (taxNote) requireText("tax_note", taxNote, 300);
  if (given.transferInstructions) checkNote("transfer_instructions", given.transferInstructions, 2000);
  if (given.invoiceFrom) checkNote("invoice_from", given.invoiceFrom, 1000);
}

function parseNotify(given: string): string {
  const addresses = JSON.parse(given) as string[];
  if (addresses.length > maxNotified) throw invalidField("notify", `must be at most ${maxNotified} addresses`);
  const parsed = addresses.map((address) => parseEmail("notify", address));
  return JSON.stringify([...new Map(parsed.map((one) => [one.emailKey, one.email])).values()]);
}

/** Adds named addresses to those of a store. An empty address removes the name. */
function mergeLegalUrls(before: Record<string, string>, given: string): string {
  const merged = Object.entries({ ...before, ...(JSON.parse(given) as typeof before) }).filter(([, url]) => url !== "");
  for (const [name, url] of merged) {
    if (!/^[a-z][a-z_]{0,39}$/.test(name))
      throw invalidField("legal_url", "must begin with a name, as in imprint=https://…");
    if (!isWebAddress(url)) throw invalidField("legal_url", `of ${name} ${notAddress}`);
  }
  return JSON.stringify(Object.fromEntries(merged));
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:/i.test(text) && text.length <= 2000;
}

/** Returns minor units. Refuses 0, because customers would get nothing for points. Errors: validationFailed. */
function parsePointValue(value: number, currency: string): number {
  const minor = parseMoney("point_value", value, currencyDigits(currency));
  if (minor < 1 || minor > highestValue) {
    throw invalidField("point_value", `must be above zero and at most ${showPointValue(highestValue, currency)}`);
  }
  return minor;
}

export function showPointValue(minor: number, currency: string): number {
  return toAmount(minor, currencyDigits(currency));
}

const noLimit = "a whole number from 0 to 1000000, where 0 means no limit";
const wholeNumbers = {
  tokenLifetime: ["token_lifetime", 5 * 60, 400 * 86_400, "between 5 minutes and 400 days"],
  pointsDays: ["points_days", 1, 36_500, "a whole number from 1 to 36500, or none"],
  addressWrites: ["address_writes", 0, 1_000_000, noLimit],
  visitorWrites: ["visitor_writes", 0, 1_000_000, noLimit],
  pendingOrders: ["pending_orders", 0, 1_000_000, noLimit],
  stockShare: ["stock_share", 1, 100, "a whole percentage from 1 to 100, where 100 means no limit"],
  ordersPerMinute: ["orders_per_minute", 0, 1_000_000, noLimit],
  hold: ["hold", 60, 30 * 86_400, "between 1 minute and 30 days"],
  transferHold: ["transfer_hold", 60, 30 * 86_400, "between 1 minute and 30 days"],
  longHoldShare: ["long_hold_share", 1, 100, "a whole percentage from 1 to 100, where 100 means no limit"],
  lowStockAt: ["low_stock_at", 0, 1_000_000_000, "a whole number of at least 0, or none"],
  keepInvoices: ["keep_invoices", 1, 30, "between 1 and 30 years, such as 8y"],
  mediaQuota: ["media_quota", 0, 2 ** 50, "a size of at most 1024 TiB"],
} as const;

function requireWholeNumbers(input: TenantInput): void {
  for (const [name, [field, min, max, expects]] of Object.entries(wholeNumbers)) {
    const value = input[name as keyof typeof wholeNumbers] ?? min;
    if (!Number.isInteger(value) || value < min || value > max) throw invalidField(field, `must be ${expects}`);
  }
}

function requireHost(domain: string): void {
  const url = `http://${domain}`;
  if (!URL.canParse(url) || new URL(url).host !== domain.toLowerCase()) {
    throw invalidField("domain", "must be a host name, such as shop.example.com");
  }
}

const pattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function isNamespace(text: string): boolean {
  return pattern.test(text);
}

export function parseNamespace(text: string): string {
  if (!isNamespace(text)) {
    throw invalidField("namespace", "must be 1 to 63 lowercase letters, digits and hyphens, with no hyphen at an end");
  }
  return text;
}

/** Returns a BCP 47 language tag in its canonical case (`pt-BR`). Errors: validationFailed that names the field. */
export function parseLanguage(field: string, tag: string): string {
  const canonical = tag.length <= 35 ? attempt(() => Intl.getCanonicalLocales(tag)[0]) : undefined;
  // Longer primary subtags are well-formed, but no language has one.
  if (canonical !== undefined && /^[a-z]{2,3}(?:-|$)/.test(canonical)) return canonical;
  throw invalidField(field, "must be a language code, such as de, en or pt-BR");
}

/** Parses the language of a store. Errors: validationFailed, which suggests a code if `tag` is a language's name. */
export function parseStoreLanguage(tag: string): string {
  const language = attempt(() => parseLanguage("language", tag));
  if (language !== undefined && nameLanguage(language, "en") !== undefined) return language;
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const isMeant = (code: string, locale: string) => nameLanguage(code, locale)?.toLowerCase() === tag.toLowerCase();
  const code = codes.find((code) => isMeant(code, "en") || isMeant(code, code));
  const hint = code === undefined ? ", such as de, en or pt-BR" : `; for ${nameLanguage(code, "en")}: ${code}`;
  throw invalidField("language", `must be the code of a known language${hint}`);
}

function nameLanguage(code: string, locale: string): string | undefined {
  return attempt(() => new Intl.DisplayNames(locale, { type: "language", fallback: "none" }).of(code));
}

/** Returns a country code (ISO 3166-1 alpha-2), which may be typed in any case. Errors: validationFailed. */
export function parseCountry(code: string): string {
  const upper = code.toUpperCase();
  if (!isCountry(upper)) throw invalidField("country", `must be ${countryExpects}`);
  return upper;
}

export function parseCurrency(code: string): string {
  const upper = code.toUpperCase();
  if (decimalsOf(upper) === undefined) throw invalidField("currency", "must be an ISO 4217 currency code, such as EUR");
  return upper;
}

/** Returns how many decimals a currency has: JPY 0, EUR 2, KWD 3. For an unknown currency, returns two. */
export function currencyDigits(code: string): number {
  return decimalsOf(code) ?? 2;
}

/** Formats 4.9 in EUR as `4.90 EUR`. */
export function formatPrice(amount: number, currency: string): string {
  return `${amount.toFixed(currencyDigits(currency))} ${currency}`;
}

export function currencySign(code: string): string {
  const form = { style: "currency", currency: code, currencyDisplay: "narrowSymbol" } as const;
  const parts = new Intl.NumberFormat("en", form).formatToParts(0);
  return parts.find((part) => part.type === "currency")?.value ?? code;
}
