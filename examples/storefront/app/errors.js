import { h } from "./dom.js";
import { BodegaError } from "./shop.js";
import { hasWords, t } from "./words.js";

/** Errors that mean the same to a customer. */
const sameAs = { 5205: 5207, 5206: 5207, 5214: 5207, 5001: 5107, 5202: 5203, 5215: 5203, 5204: 5207, 5209: 5213 };

/** An error in the words of the page. Codes are for programs: people read what happened, and what they can do. */
export function explain(error) {
  if (!(error instanceof BodegaError)) return t("error.unknown");
  const name = `error.${sameAs[error.code] ?? error.code}`;
  if (!hasWords(name))
    return [t("error.unknown"), error.requestId && t("error.quote", { id: error.requestId })].join(" ");
  const minutes = Math.ceil((error.retryAfter ?? 60) / 60);
  return t(name, { count: minutes });
}

/** A page's worth of apology, with a way to try again. */
export function apology(error, retry) {
  const isMissing = error.code === 5301;
  return h(
    "section",
    { class: "apology" },
    h("h1", null, t(isMissing ? "error.missing" : error.code === "network" ? "error.offline" : "error.title")),
    h("p", null, explain(error)),
    isMissing
      ? h("a", { class: "button", href: "#/" }, t("frame.goods"))
      : h("button", { class: "button", type: "button", onclick: retry }, t("error.retry")),
  );
}
