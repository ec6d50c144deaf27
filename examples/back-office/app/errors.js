import { h, toast } from "./dom.js";
import { amountText, hasWords, t } from "./words.js";

/** Quoted names, placeholders, emails, ids, numbers, sizes and amounts in messages of the server. */
const variables = /"[^"]*"|\{[^{}]*\}|\S+@[^\s@]+\.\w+|\b[a-z]{3}_[0-9a-z]{26}|\d+(?:\.\d+)?(?: [A-Z]{3}| [KMG]iB)?/g;
/** Parts of messages that translations leave out. */
const ends = / or null$|(?<=^needs) (?:an?|at) .*| by product .*| of zone .*| the class .*|\. (?:Known|Begin|Save)\b.*/;

/** Translates a message of the server. In the names of translations, `#` stands for a variable part. */
function translateMessage(message) {
  const name = `fault.${message.replace(ends, "").replace(variables, "#")}`;
  const values = (message.match(variables) ?? []).map((text) => (/^\d/.test(text) ? amountText(text) : text));
  return hasWords(name) && t(name, values);
}

/** Returns a sentence about an error. */
export function explain(error) {
  const { code, message, retryAfter = 60, requestId, details = [] } = error;
  if (details.length > 0) return t("error.5102");
  // Without a connection, even the script of a page cannot be loaded. Such an error has no code.
  const name = `error.${code ?? (navigator.onLine ? "" : "network")}`;
  const words = translateMessage(message);
  if (words) return words;
  if (hasWords(name)) return t(name, { count: Math.ceil(retryAfter / 60), message });
  if (typeof code === "number" && code !== 5000) return t("error.refused", { message });
  console.warn(error);
  return [t("error.unknown"), requestId && t("error.quote", { id: requestId })].filter(Boolean).join(" ");
}

export const explainField = (message) => translateMessage(message) || t("form.refused", { message });

/** Returns a sentence about a wrong field, which begins with the name of the field. */
export function nameFault({ field, message }) {
  const name = field.split(".").findLast((part) => hasWords(`field.${part}`));
  return `${name ? t(`field.${name}`) : field}: ${explainField(message)}`;
}

/** Returns a sentence about an error, and one about each wrong field. */
export const explainAll = (error) => [explain(error), ...(error.details ?? []).map(nameFault)].join(" ");

export function apology(error, retry) {
  const title = t(error.code === 5301 ? "error.missing" : "error.title");
  const button = actionButton("error.retry", retry, "");
  return h("section.narrow", h("h1", { tabindex: -1 }, title), h("p", explain(error)), button);
}

/** Runs an action and shows its error. Does nothing while the action of this button is running. */
export async function act(button, action) {
  if (button.ariaBusy) return;
  button.ariaBusy = "true";
  try {
    await action();
  } catch (error) {
    toast(explainAll(error));
  } finally {
    button.ariaBusy = null;
  }
}

export function actionButton(word, action, look = "is-quiet") {
  const button = h("button", { type: "button", class: `button ${look}` }, t(word));
  button.addEventListener("click", () => act(button, action));
  return button;
}

/** Refuses a save if a colleague has changed the stored value since it was shown. */
export function requireSame(stored, shown) {
  if (JSON.stringify(stored) !== JSON.stringify(shown)) throw coded(5303);
}

export const coded = (code) => Object.assign(new Error(), { code });
