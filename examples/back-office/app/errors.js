import { h, toast } from "./dom.js";
import { hasWords, t } from "./words.js";

/** Says in words what failed. The server's own message tells staff most, and is shown as text. */
export function explain(error) {
  const { code, message, retryAfter = 60, requestId } = error;
  // Without a connection, not even the script of a page can be loaded.
  const name = `error.${code ?? (navigator.onLine ? "" : "network")}`;
  if (hasWords(name)) return t(name, { count: Math.ceil(retryAfter / 60) });
  if (typeof code === "number" && code !== 5000) {
    const details = (error.details ?? []).map((one) => `${one.field}: ${one.message}`);
    return [message, ...details].join(" ");
  }
  console.warn(error);
  return [t("error.unknown"), requestId && t("error.quote", { id: requestId })].filter(Boolean).join(" ");
}

export function apology(error, retry) {
  const isMissing = error.code === 5301;
  return h(
    "section",
    { class: "narrow" },
    h("h1", { tabindex: -1 }, t(isMissing ? "error.missing" : "error.title")),
    h("p", {}, explain(error)),
    h("button", { type: "button", class: "button", onclick: retry }, t("error.retry")),
  );
}

/** Runs an action once at a time, and shows its error. */
export async function act(button, action) {
  if (button.ariaBusy) return;
  button.ariaBusy = "true";
  try {
    await action();
  } catch (error) {
    toast(explain(error));
  } finally {
    button.ariaBusy = null;
  }
}

export function actionButton(word, action, look = "is-quiet") {
  const button = h("button", { type: "button", class: `button ${look}` }, t(word));
  button.addEventListener("click", () => act(button, action));
  return button;
}

export const coded = (code) => Object.assign(new Error(), { code });
