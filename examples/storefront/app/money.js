import { language } from "./words.js";

/** An amount in the words of the page. The store's amounts are exact, and so are decimal strings. */
export function formatMoney(amount, currency) {
  return new Intl.NumberFormat(language(), { style: "currency", currency }).format(amount);
}

/** A range of round prices, such as of a filter. */
export function formatRange(low, high, currency) {
  const format = new Intl.NumberFormat(language(), { style: "currency", currency, maximumFractionDigits: 0 });
  return format.formatRange(low, high);
}

/** An amount in minor units. Sums are made of whole minor units, so that no cent is lost to a fraction of a double. */
export function formatMinor(minor, currency) {
  const { maximumFractionDigits: digits } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  const text = String(minor).padStart(digits + 1, "0");
  const point = text.length - digits;
  return formatMoney(digits ? `${text.slice(0, point)}.${text.slice(point)}` : text, currency);
}
