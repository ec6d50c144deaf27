import { take } from "./dom.js";
import { BodegaError } from "./shop.js";
import { hasWords, t } from "./words.js";

/** Errors that mean the same to a customer. */
const sameAs = { 5001: 5107, 5202: 5203, 5204: 5207, 5205: 5207, 5206: 5207, 5209: 5213, 5214: 5207, 5215: 5203 };

/** An error in the words of the page. Codes are for programs: people read what happened, and what they can do. */
export function explain(error) {
  if (!(error instanceof BodegaError)) return t("error.unknown");
  const name = `error.${sameAs[error.code] ?? error.code}`;
  const minutes = Math.ceil((error.retryAfter ?? 60) / 60);
  if (hasWords(name)) return t(name, { count: minutes });
  return `${t("error.unknown")} ${error.requestId ? t("error.quote", { id: error.requestId }) : ""}`;
}

/** A page's worth of apology, with a way to try again. */
export function apology(error, retry) {
  const isMissing = error.code === 5301;
  return take("apology", {
    title: t(isMissing ? "error.missing" : error.code === "network" ? "error.offline" : "error.title"),
    text: explain(error),
    goods: isMissing && {},
    retry: !isMissing && { onclick: retry },
  });
}
