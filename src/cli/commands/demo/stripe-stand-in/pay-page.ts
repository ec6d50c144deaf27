import type { IncomingMessage, ServerResponse } from "node:http";
import { decimalsOf } from "../../../../server/values/currency.ts";
import type { Books, Row } from "./books.ts";
import words from "./pay-page.json" with { type: "json" };
import style from "./pay-page.txt" with { type: "text" };

export const pageSafety = { "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'" };
type Asked = { request: IncomingMessage; pathname: string; body: string };

/** Answers the page on which a visitor pays, and its form: pay, decline or leave. */
export function answerPayPage(books: Books, { request, pathname, body }: Asked, response: ServerResponse): void {
  const send = (status: number, headers: object, text = "") => {
    response.writeHead(status, { ...pageSafety, "Content-Type": "text/html; charset=utf-8", ...headers }).end(text);
  };
  books.expireDue();
  const session = books.lists["checkout/sessions"].find(({ id }) => pathname === `/c/pay/${id}`);
  const act = request.method === "POST" ? new URLSearchParams(body).get("act") : null;
  if (session?.status === "open" && act === "pay") books.pay(session.id);
  if (session?.status === "open" && act === "decline") books.decline(session.id);
  if (pathname === "/pay-page.css") send(200, { "Content-Type": "text/css" }, style);
  else if (pathname === "/favicon.ico") send(204, {});
  else if (!session) send(404, { "Content-Type": "text/plain" }, "This page does not exist.\n");
  else if (act === "leave") send(303, { Location: session.cancel_url });
  else if (session.status === "complete") send(303, { Location: session.success_url });
  else send(200, {}, renderPage(session, act, [String(session.locale), request.headers["accept-language"] ?? ""]));
}

function renderPage(session: Row, act: string | null, languages: string[]): string {
  const asked = languages.join().split(/[,;]/);
  const language = asked.map((one) => one.trim().slice(0, 2)).find((one) => Object.hasOwn(words, one)) ?? "en";
  const say = words[language as keyof typeof words];
  const { currency, hidden, customer_email = "" } = session;
  const unit = /isk|ugx/.test(currency) ? 100 : 10 ** (decimalsOf(currency.toUpperCase()) ?? 2);
  const money = (amount: unknown) =>
    new Intl.NumberFormat(language, { style: "currency", currency }).format(Number(amount) / unit);
  const rows = (hidden?.lines ?? []).map(
    (one) =>
      `<tr><td>${Bun.escapeHTML(`${Number(one.quantity) > 1 ? `${one.quantity} × ` : ""}${one.description}`)}<td>${money(one.amount_total)}`,
  );
  const isOpen = session.status === "open";
  const button = (name: "pay" | "decline" | "leave") =>
    `<button name=act value=${name}${isOpen || name === "leave" ? "" : " disabled"}>${say[name]}</button>`;
  const note = isOpen ? act && say.declined : say.expired;
  return `<!doctype html><html lang=${language}><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>${say.title}</title><link rel=stylesheet href=/pay-page.css><main><p class=test>${say.test}</p>
<h1>${money(session.amount_total)}</h1>${note ? `<p role=alert>${note}</p>` : ""}<table>${rows.join("")}</table>
<p>${Bun.escapeHTML(String(customer_email))}</p>
<form method=post>${button("pay")}${button("decline")}${button("leave")}</form></main></html>`;
}
