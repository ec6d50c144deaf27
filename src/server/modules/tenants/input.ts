import { invalidField } from "../../errors.ts";
import { parseMoney, toAmount } from "../../values/money.ts";
import { requireText } from "../../values/text.ts";
import { currencyDigits } from "./currency.ts";
import { parseLanguage } from "./language.ts";

/** Fields of a tenant besides its name. */
export interface TenantInput {
  title?: string | undefined;
  domain?: string | null | undefined;
  url?: string | null | undefined;
  currency?: string | undefined;
  currencySign?: string | undefined;
  logo?: string | null | undefined;
  language?: string | undefined;
  /** Lifetime of new user tokens, in seconds. */
  tokenLifetime?: number | undefined;
  /** Points for every 100 minor units paid, with at most 3 decimals, such as 1.5; 0 disables earning. */
  pointsRate?: number | undefined;
  /** Value of a point as payment, in the store's currency, such as 0.01. */
  pointValue?: number | undefined;
  /** Days until points expire; null for never. */
  pointsDays?: number | null | undefined;
  /** Public writes a minute from one address; 0 for no limit. */
  addressWrites?: number | undefined;
  /** Public writes a minute of one visitor or user; 0 for no limit. */
  visitorWrites?: number | undefined;
}

const shortestLifetime = 5 * 60;
const longestLifetime = 400 * 86_400;
const rateDigits = 3;
const highestRate = 1000;
const longestDays = 36_500;
/** In minor units; keeps the value of all balances an exact sum. */
const highestValue = 1_000_000;
const maxWrites = 1_000_000;

/**
 * The checked fields, with the language in its canonical form; the currency is checked where it is used.
 * @throws validationFailed naming the field.
 */
export function checkFields<T extends TenantInput>(input: T): T {
  if (input.title !== undefined) requireText("title", input.title, 200);
  if (input.currencySign !== undefined) requireText("currency_sign", input.currencySign, 8);
  if (input.language !== undefined) input = { ...input, language: parseLanguage("language", input.language) };
  if (input.domain) requireHost(input.domain);
  if (input.tokenLifetime !== undefined) requireLifetime(input.tokenLifetime);
  if (input.pointsDays != null) requireDays(input.pointsDays);
  requireWrites("address_writes", input.addressWrites);
  requireWrites("visitor_writes", input.visitorWrites);
  for (const field of ["url", "logo"] as const) {
    const value = input[field];
    if (value && !(URL.canParse(value) && /^https?:/i.test(value))) {
      throw invalidField(field, "must be an http or https address");
    }
  }
  return input;
}

/**
 * The earning rate as stored, in thousandths of a point.
 * @throws validationFailed naming `points_rate`.
 */
export function parsePointsRate(rate: number): number {
  const [, whole, decimals = ""] = /^(\d{1,4})(?:\.(\d{1,3}))?$/.exec(String(rate)) ?? [];
  if (whole === undefined || rate > highestRate) {
    throw invalidField("points_rate", `must be a number from 0 to ${highestRate} with at most ${rateDigits} decimals`);
  }
  return Number(whole + decimals.padEnd(rateDigits, "0"));
}

/** The rate for people: 1500 is 1.5. */
export function showPointsRate(thousandths: number): number {
  return toAmount(thousandths, rateDigits);
}

/**
 * The value of a point in minor units of a currency; never 0, as points would be spent for nothing.
 * @throws validationFailed naming `point_value`.
 */
export function parsePointValue(value: number, currency: string): number {
  const minor = parseMoney("point_value", value, currencyDigits(currency));
  if (minor < 1 || minor > highestValue) {
    throw invalidField("point_value", `must be above zero and at most ${showPointValue(highestValue, currency)}`);
  }
  return minor;
}

/** The value of a point for people: 1 in EUR is 0.01. */
export function showPointValue(minor: number, currency: string): number {
  return toAmount(minor, currencyDigits(currency));
}

function requireDays(days: number): void {
  if (!Number.isInteger(days) || days < 1 || days > longestDays) {
    throw invalidField("points_days", `must be a whole number from 1 to ${longestDays}, or none`);
  }
}

function requireWrites(field: string, perMinute: number | undefined): void {
  if (perMinute === undefined) return;
  if (!Number.isInteger(perMinute) || perMinute < 0 || perMinute > maxWrites) {
    throw invalidField(field, `must be a whole number from 0, for no limit, to ${maxWrites}`);
  }
}

function requireLifetime(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < shortestLifetime || seconds > longestLifetime) {
    throw invalidField("token_lifetime", "must be between 5 minutes and 400 days");
  }
}

function requireHost(domain: string): void {
  const url = `http://${domain}`;
  if (!URL.canParse(url) || new URL(url).host !== domain.toLowerCase()) {
    throw invalidField("domain", "must be a host name, such as shop.example.com");
  }
}
