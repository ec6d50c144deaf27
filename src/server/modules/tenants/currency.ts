import { invalidField } from "../../errors.ts";

const known = new Set(Intl.supportedValuesOf("currency"));

/**
 * The ISO 4217 code in capitals.
 * @throws validationFailed for a code that does not exist.
 */
export function parseCurrency(code: string): string {
  const upper = code.toUpperCase();
  if (!known.has(upper)) throw invalidField("currency", "is not an ISO 4217 currency code, such as EUR");
  return upper;
}

const digitsByCode = new Map<string, number>();

/** How many decimals a currency has: JPY 0, EUR 2, KWD 3. */
export function currencyDigits(code: string): number {
  const kept = digitsByCode.get(code);
  if (kept !== undefined) return kept;
  const digits = new Intl.NumberFormat("en", { style: "currency", currency: code }).resolvedOptions()
    .maximumFractionDigits as number;
  digitsByCode.set(code, digits);
  return digits;
}

/** The usual sign of a currency: `€` for EUR; the code itself where there is none. */
export function currencySign(code: string): string {
  const parts = new Intl.NumberFormat("en", {
    style: "currency",
    currency: code,
    currencyDisplay: "narrowSymbol",
  }).formatToParts(0);
  return parts.find((part) => part.type === "currency")?.value ?? code;
}
