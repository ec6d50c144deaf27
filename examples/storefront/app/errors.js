import { take, toast } from "./dom.js";
import { BodegaError } from "./shop.js";
import { hasWords, t } from "./words.js";

/** Codes are for programs: people read what happened, and what they can do. */
export function explain(error) {
  if (!(error instanceof BodegaError)) return t("error.unknown");
  const name = `error.${error.code}`;
  if (hasWords(name)) return t(name, { count: Math.ceil((error.retryAfter ?? 60) / 60) });
  return `${t("error.unknown")} ${t("error.quote", { id: error.requestId })}`;
}

export function apology(error, retry) {
  const isMissing = error.code === 5301;
  return take("apology", {
    title: t(isMissing ? "error.missing" : error.code === "network" ? "error.offline" : "error.title"),
    text: explain(error),
    goods: isMissing && {},
    retry: !isMissing && { onclick: retry },
  });
}

/** Once at a time, and says what went wrong. */
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

/** What the page can do without, such as counting a view. */
export async function optionally(action) {
  if (navigator.onLine) await action().catch(console.warn);
}
