import { decimalsOf } from "../../../../server/values/currency.ts";
import type { Books, Row } from "./books.ts";
import words from "./pay-page.json" with { type: "json" };
import style from "./pay-page.txt" with { type: "text" };
import template from "./pay-page-html.txt" with { type: "text" };

/** A page in HTML, unless its headers name another type. */
export type Page = { status?: number; html?: string; headers?: Record<string, string> };

export const pageHeaders = {
  "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
  "Content-Type": "text/html; charset=utf-8",
};

/** Answers a request for the payment page. `act` is the pressed button: `pay`, `decline`, `leave`, or null. */
export function answerPayPage(books: Books, pathname: string, act: string | null, language: string | null): Page {
  if (pathname === "/pay-page.css") return { html: style, headers: { "Content-Type": "text/css" } };
  books.expireDue();
  const session = books.lists["checkout/sessions"].find(({ id }) => pathname === `/c/pay/${id}`);
  if (!session) return { status: 404, html: "This page does not exist." };
  if (session.status === "open" && act === "pay") books.pay(session.id);
  const next = act === "leave" ? session.cancel_url : session.status === "complete" && session.success_url;
  return next ? { status: 303, headers: { Location: String(next) } } : { html: renderPage(session, act, language) };
}

function renderPage(session: Row, act: string | null, accepted: string | null): string {
  const asked = `${session.locale},${accepted}`.split(/[,;]/).map((one) => one.trim().slice(0, 2));
  const language = asked.find((one) => Object.hasOwn(words, one)) ?? "en";
  const say = words[language as keyof typeof words];
  const { currency, hidden, amount_total, customer_email = "" } = session;
  const unit = /isk|ugx/.test(currency) ? 100 : 10 ** (decimalsOf(currency.toUpperCase()) ?? 2);
  const { format } = new Intl.NumberFormat(language, { style: "currency", currency });
  const rows = (hidden?.lines ?? []).map((line) => {
    const name = line.quantity > 1 ? `${line.quantity} × ${line.description}` : line.description;
    return `<tr><td>${Bun.escapeHTML(name)}<td>${format(line.amount_total / unit)}`;
  });
  const isOpen = session.status === "open";
  const buttons = (["pay", "decline", "leave"] as const).map((name) => {
    const state = isOpen || name === "leave" ? "" : " disabled";
    return `<button name=act value=${name}${state}>${say[name]}</button>`;
  });
  const text = isOpen ? act && say.declined : say.expired;
  const note = text ? `<p role=alert>${text}</p>` : "";
  const total = format(Number(amount_total) / unit);
  const email = Bun.escapeHTML(String(customer_email));
  const parts = { ...say, language, total, note, email, rows: rows.join(""), buttons: buttons.join("") };
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parts[name as keyof typeof parts]));
}
