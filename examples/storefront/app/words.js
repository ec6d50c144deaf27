const offered = ["en", "de", "fr"];
const key = "shop language";
const preferred = [localStorage.getItem(key), ...navigator.languages].map((tag) => tag?.slice(0, 2));
let current = preferred.find((tag) => offered.includes(tag)) ?? "en";
let words = {};
let plurals;

export const language = () => current;

export async function loadWords(next = current) {
  const response = await fetch(`words/${next}.json`);
  words = await response.json();
  plurals = new Intl.PluralRules(next);
  if (next !== current) localStorage.setItem(key, next);
  current = next;
  document.documentElement.lang = next;
}

export function t(name, values = {}) {
  const entry = words[name] ?? name;
  const text = typeof entry === "string" ? entry : (entry[plurals.select(values.count)] ?? entry.other);
  return text.replace(/\{(\w+)\}/g, (_, value) => values[value] ?? "");
}

export const hasWords = (name) => name in words;

/** Translates a tag or option of the store, if the page has words for it. */
export const named = (kind, value) => words[`${kind}.${value}`] ?? value;

export const variantName = (title) => title?.replace(/[^/ ]([^/]*[^/ ])?/g, (one) => named("value", one));

export function formatDate(date, style = { dateStyle: "long" }) {
  return new Intl.DateTimeFormat(current, style).format(new Date(date));
}

/** "in 3 hours", rounded up. */
export function formatWait(seconds) {
  const sizes = { day: 86_400, hour: 3600 };
  const [unit, size] = Object.entries(sizes).find(([, one]) => seconds >= 2 * one) ?? ["minute", 60];
  return new Intl.RelativeTimeFormat(current).format(Math.ceil(seconds / size), unit);
}

export const countryName = (code) => new Intl.DisplayNames(current, { type: "region" }).of(code);

const moneyFormat = (currency, more) => new Intl.NumberFormat(current, { style: "currency", currency, ...more });

/** Formats an amount. A decimal string is not rounded. */
export const formatMoney = (amount, currency) => moneyFormat(currency).format(amount);

export const formatRange = (low, high, currency) =>
  moneyFormat(currency, { maximumFractionDigits: 0 }).formatRange(low, high);

export const formatNumber = (number) => new Intl.NumberFormat(current).format(number);

export function formatMinor(minor, currency) {
  const { maximumFractionDigits } = moneyFormat(currency).resolvedOptions();
  return formatMoney(`${minor}E-${maximumFractionDigits}`, currency);
}
