const offered = ["en", "de"];
const key = "back-office language";
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

export function formatDate(date, style = { dateStyle: "medium", timeStyle: "short" }) {
  return new Intl.DateTimeFormat(current, style).format(new Date(date));
}

export const formatDay = (date) => formatDate(date, { dateStyle: "medium" });

const nameOf = (type, code) => new Intl.DisplayNames(current, { type }).of(code);

export const countryName = (code) => nameOf("region", code);

export const languageName = (code) => nameOf("language", code);

export function formatMoney(amount, currency, style) {
  return new Intl.NumberFormat(current, { style: "currency", currency, ...style }).format(amount);
}

/** Formats an amount as people type it: `12,5` in German. */
export const amountText = (amount) => (amount ?? "") && String(amount).replace(".", current === "de" ? "," : ".");

/** Reads an amount with a comma or a point. Returns null for an empty text. */
export const readAmount = (text) => text && Number(text.replace(",", "."));
