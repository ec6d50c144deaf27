import { decimalsOf } from "../../../../server/values/currency.ts";
import type { Books, Row } from "./books.ts";
import words from "./pay-page.json" with { type: "json" };
import style from "./pay-page.txt" with { type: "text" };

/** A page of the stand-in; HTML unless its headers say otherwise. */
export interface Page {
  status?: number;
  html?: string;
  headers?: Record<string, string>;
}

/** Answers the page on which a visitor pays, and its form, whose `act` is to pay, decline or leave. */
export function answerPayPage(books: Books, pathname: string, act: string | null, language: string): Page {
  if (pathname === "/pay-page.css") return { html: style, headers: { "Content-Type": "text/css" } };
  if (pathname === "/favicon.ico") return { status: 204 };
  books.expireDue();
  const session = books.lists["checkout/sessions"].find(({ id }) => pathname === `/c/pay/${id}`);
  if (!session) return { status: 404, html: "This page does not exist." };
  if (session.status === "open" && act === "pay") books.pay(session.id);
  if (session.status === "open" && act === "decline") books.decline(session.id);
  const next = act === "leave" ? session.cancel_url : session.status === "complete" && session.success_url;
  return next ? { status: 303, headers: { Location: String(next) } } : { html: renderPage(session, act, language) };
}

function renderPage(session: Row, act: string | null, accepted: string): string {
  const asked = `${session.locale},${accepted}`.split(/[,;]/).map((one) => one.trim().slice(0, 2));
  const language = asked.find((one) => Object.hasOwn(words, one)) ?? "en";
  const say = words[language as keyof typeof words];
  const { currency, hidden, customer_email = "" } = session;
  const unit = /isk|ugx/.test(currency) ? 100 : 10 ** (decimalsOf(currency.toUpperCase()) ?? 2);
  const { format } = new Intl.NumberFormat(language, { style: "currency", currency });
  const rows = (hidden?.lines ?? []).map(({ quantity, description, amount_total }) => {
    const name = quantity > 1 ? `${quantity} × ${description}` : description;
    return `<tr><td>${Bun.escapeHTML(name)}<td>${format(amount_total / unit)}`;
  });
  const isOpen = session.status === "open";
  const button = (name: "pay" | "decline" | "leave") =>
    `<button name=act value=${name}${isOpen || name === "leave" ? "" : " disabled"}>${say[name]}</button>`;
  const note = isOpen ? act && say.declined : say.expired;
  return `<!doctype html><html lang=${language}><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>${say.title}</title><link rel=stylesheet href=/pay-page.css><main><p class=test>${say.test}</p>
<h1>${format(Number(session.amount_total) / unit)}</h1>${note ? `<p role=alert>${note}</p>` : ""}<table>${rows.join("")}</table>
<p>${Bun.escapeHTML(String(customer_email))}</p>
<form method=post>${button("pay")}${button("decline")}${button("leave")}</form></main></html>`;
}
