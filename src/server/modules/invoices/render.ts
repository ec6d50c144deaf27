import { chooseLanguage } from "../../values/choose-language.ts";
import { toAmount } from "../../values/money.ts";
import type { TaxPart } from "../orders/credits.ts";
import type { OrderRow } from "../orders/read.ts";
import type { orderLines, payments } from "../orders/table.ts";
import type { tenants } from "../tenants/table.ts";
import page from "./page.txt" with { type: "text" };
import style from "./style.txt" with { type: "text" };
import texts from "./texts.json";

type TenantRow = typeof tenants.$inferSelect;
export type Seller = Pick<TenantRow, "title" | "url" | "language" | "timezone" | "taxNote"> & { invoiceFrom: string };

/** An invoice or credit note. Amounts are in minor units. */
export interface Paper {
  kind: "invoice" | "credit_note";
  number: number;
  issuedAt: string;
  /** The invoice itself, or the one that a credit note corrects. */
  invoice?: { number: number; issuedAt: string };
  order: OrderRow;
  /** Pieces with their amount: of an invoice as its prices, with or without tax; of a credit note with tax. */
  lines: { line: typeof orderLines.$inferSelect; quantity: number; amount: number }[];
  shipping: number;
  totalMinor: number;
  taxParts: TaxPart[];
  payments: (typeof payments.$inferSelect)[];
}

const html = (text: unknown) => Bun.escapeHTML(String(text));
const cell = (text: string, name: "td" | "th" = "td") => `<${name}>${text}</${name}>`;
const figure = (text: string, name: "td" | "th" = "td") => `<${name} class="n">${text}</${name}>`;
const row = (cells: string[], sum = false) => `<tr${sum ? ' class="sum"' : ""}>${cells.join("")}</tr>`;

/** Renders a page for print, in the language of the order. It contains its style, and its policy lets it load nothing. */
export function renderInvoice(paper: Paper, seller: Seller): string {
  const { order, kind, invoice } = paper;
  const language = chooseLanguage([order.lang, seller.language], texts);
  const say = texts[language as keyof typeof texts];
  const show = formats(language, order, seller.timezone);
  const title = say[kind].replace("{number}", String(paper.number));
  const facts = [
    [say.date, show.date(paper.issuedAt)],
    ...(kind === "credit_note" && invoice
      ? [[say.corrects, `${invoice.number}, ${show.date(invoice.issuedAt)}`] as const]
      : []),
    [say.order, String(order.number)],
    [say.ordered, show.date(order.createdAt)],
    ...(order.fulfilledAt === null ? [] : [[say.sent, show.date(order.fulfilledAt)] as const]),
  ] as const;
  const paid = paper.payments.map(({ receivedAt, amountMinor, currency, provider }) => {
    const amount = currency === order.currency ? show.money(amountMinor) : currency;
    return `<p>${html(`${say.paid} ${show.date(receivedAt)}: ${amount} (${say[provider]})`)}</p>`;
  });
  const isTaxed = paper.taxParts.some(({ tax, rate }) => tax > 0 || (rate ?? 0) > 0);
  const note = isTaxed || seller.taxNote === null ? "" : `<p>${html(seller.taxNote)}</p>`;
  const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
  const parts: Record<string, string> = {
    ...{ language, direction: say.direction, title: html(title), style },
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    buyer: html(buyerOf(order, say.vat_id)),
    seller: html([seller.invoiceFrom, seller.url].filter(Boolean).join("\n")),
    facts: facts.map(([name, value]) => `<dt>${html(name)}</dt><dd>${html(value)}</dd>`).join(""),
    columns: [cell(say.item, "th"), ...[say.quantity, say.price, say.amount].map((one) => figure(one, "th"))].join(""),
    rows: rowsOf(paper, say, show).join(""),
    taxes: isTaxed ? renderTaxes(paper, say, show) : "",
    notes: [note, ...paid].join(""),
  };
  return page.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] as string);
}

type Texts = (typeof texts)["en"];
type Formats = ReturnType<typeof formats>;

function formats(language: string, { currency, currencyDigits: digits }: OrderRow, timeZone: string) {
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const money = new Intl.NumberFormat(`${language}-u-nu-latn`, { style: "currency", currency, ...decimals });
  const date = new Intl.DateTimeFormat(`${language}-u-nu-latn-ca-gregory`, { dateStyle: "long", timeZone });
  return {
    money: (minor: number) => money.format(toAmount(minor, digits)),
    date: (time: string) => date.format(new Date(time)),
  };
}

const addressParts = ["company", "name", "line1", "line2"] as const;

function buyerOf({ billingAddress, shippingAddress }: OrderRow, vatIdText: string): string {
  const text = billingAddress ?? shippingAddress;
  if (text === null) return "";
  const address = JSON.parse(text) as Record<string, string | null | undefined>;
  const { postal_code: code, city, region, country, vat_id: vatId } = address;
  const lines = [...addressParts.map((part) => address[part]), [code, city].filter(Boolean).join(" "), region, country];
  return [...lines, vatId && `${vatIdText} ${vatId}`].filter(Boolean).join("\n");
}

/** The rows of the pieces, of what is added and taken off, and of the total. */
function rowsOf({ kind, lines, shipping, totalMinor, order, taxParts }: Paper, say: Texts, show: Formats): string[] {
  const isInvoice = kind === "invoice";
  const items = lines.map(({ line, quantity, amount }) => {
    const title = [line.title, line.variantTitle].filter((text) => text !== null).join(", ");
    const off = isInvoice && line.discountMinor > 0 ? `${say.discount}: −${show.money(line.discountMinor)}` : null;
    const rate = taxParts.find(({ taxClass }) => taxClass === line.taxClass)?.rate ?? null;
    const details = [line.sku, rate === null ? null : `${say.tax} ${rate} %`, off].filter((text) => text !== null);
    const small = details.map((text) => `<small><bdi>${html(text)}</bdi></small>`).join("");
    const price = isInvoice ? show.money(line.priceMinor) : "";
    return row([cell(`<bdi>${html(title)}</bdi>${small}`), ...[String(quantity), price, show.money(amount)].map(one)]);
  });
  const extra = (name: string, amount: number) =>
    amount === 0 ? [] : [row([cell(html(name)), one(""), one(""), one(show.money(amount))])];
  // If prices exclude tax, an invoice adds it; a credit note is with tax.
  const added = isInvoice && !order.pricesIncludeTax ? order.taxMinor : 0;
  const rest = totalMinor - lines.reduce((sum, { amount }) => sum + amount, 0) - shipping - added;
  return [
    ...items,
    ...extra(say.shipping, shipping),
    ...extra(say.tax, added),
    ...extra(rest > 0 ? say.reduction : say.credited, rest),
    row([cell(say.total), one(""), one(""), one(show.money(totalMinor))], true),
  ];
}

const one = (text: string) => figure(html(text));

function renderTaxes({ taxParts }: Paper, say: Texts, show: Formats): string {
  const shown = taxParts.filter(({ gross }) => gross > 0);
  const rows = shown.map(({ rate, gross, tax }) =>
    row([
      cell(rate === null ? "" : `${rate} %`),
      ...[gross - tax, tax, gross].map((amount) => one(show.money(amount))),
    ]),
  );
  const names = [say.net, say.tax, say.gross].map((name) => figure(name, "th"));
  return `<table><thead>${row([cell(say.tax, "th"), ...names])}</thead><tbody>${rows.join("")}</tbody></table>`;
}
