/** The page's own words. Texts of products come from the store, in the language that `lang` asks for. */

const offered = ["en", "de", "fr"];
const key = "shop language";
let current = offered.includes(localStorage.getItem(key)) ? localStorage.getItem(key) : preferred();
let words = {};
let plurals;

/** The language of the page: `en`, `de` or `fr`. */
export const language = () => current;

/** Loads the words of the current language, or of the one to change to. */
export async function loadWords(next = current) {
  const response = await fetch(`words/${next}.json`);
  words = await response.json();
  plurals = new Intl.PluralRules(next);
  if (next !== current) localStorage.setItem(key, next);
  current = next;
  document.documentElement.lang = next;
}

/** A text by its name, with `{values}` filled in. A text with several forms takes the one that fits `count`. */
export function t(name, values = {}) {
  const entry = words[name] ?? name;
  const text = typeof entry === "string" ? entry : (entry[plurals.select(values.count)] ?? entry.other);
  return text.replace(/\{(\w+)\}/g, (_, value) => values[value] ?? "");
}

/** Whether there are words of this name. */
export const hasWords = (name) => name in words;

/** A date and time as people read it; `style` as in `Intl.DateTimeFormat`. */
export function formatDate(date, style = { dateStyle: "long" }) {
  return new Intl.DateTimeFormat(current, style).format(new Date(date));
}

/** The name of a country in the language of the page. */
export const countryName = (code) => new Intl.DisplayNames(current, { type: "region" }).of(code);

function preferred() {
  const asked = navigator.languages.map((tag) => tag.slice(0, 2));
  return asked.find((tag) => offered.includes(tag)) ?? "en";
}
