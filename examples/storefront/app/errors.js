import { take, toast } from "./dom.js";
import { formatWait, hasWords, t } from "./words.js";

export function explain(error) {
  const name = `error.${isTooManyUnpaid(error) ? "unpaid" : error.code}`;
  const { retryAfter = 60 } = error;
  if (hasWords(name)) return t(name, { count: Math.ceil(retryAfter / 60), when: formatWait(retryAfter) });
  const unknown = t("error.unknown");
  return error.requestId ? `${unknown} ${t("error.quote", { id: error.requestId })}` : unknown;
}

/** Code 5107 also means too many requests, so the message must decide. */
const isTooManyUnpaid = ({ code, message }) => code === 5107 && message.includes("unpaid orders");

export function apology(given, retry) {
  // For an unknown category, the API answers 5102.
  const error = given.code === 5102 ? coded(5301) : given;
  const isMissing = error.code === 5301;
  return take("apology", {
    title: t(isMissing ? "error.missing" : error.code === "network" ? "error.offline" : "error.title"),
    text: explain(error),
    goods: isMissing && {},
    retry: !isMissing && { onclick: retry },
  });
}

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

export const onClick = (button, action) => button.addEventListener("click", () => act(button, action));

export const coded = (code) => Object.assign(new Error(), { code });

/** A shop on the visitor's own machine, such as the demo, works without a network. */
export const isOffline = () => !navigator.onLine && !["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** Ignores the failure of work that the page can do without, such as counting a view. */
export async function optionally(action) {
  if (!isOffline()) await action().catch(console.warn);
}
