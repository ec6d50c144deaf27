import { chooseLanguage } from "../../values/choose-language.ts";
import { sumOf, toAmount } from "../../values/money.ts";
import type { TaxPart } from "../orders/credits.ts";
import type { OrderRow } from "../orders/read.ts";
import type { orderLines, payments } from "../orders/table.ts";
import type { tenants } from "../tenants/table.ts";
import page from "./page.txt" with { type: "text" };
import style from "./style.txt" with { type: "text" };
import texts from "./texts.json";

type TenantRow = typeof tenants.$inferSelect;
export type Seller = Pick<TenantRow, "url" | "language" | "timezone" | "taxNote"> & { invoiceFrom: string };

/** An invoice or credit note. Amounts are in minor units. */
export interface Paper {
  number: number;
  issuedAt: string;
  /** On a credit note, the invoice that it corrects; null on an invoice. */
  corrects: { number: number; issuedAt: string } | null;
  order: OrderRow;
  /** The amounts of a credit note include tax. The amounts of an invoice include tax if the order's prices do. */
  pieces: { line: typeof orderLines.$inferSelect; quantity: number; amount: number }[];
  shipping: number;
  amount: number;
  taxParts: TaxPart[];
  payments: (typeof payments.$inferSelect)[];
}

const html = (text: unknown) => Bun.escapeHTML(String(text));

/** Returns a page for print in the order's language. Its styles are inline, because the page may not load anything. */
export function renderInvoice(paper: Paper, seller: Seller): string {
  const { order, corrects, taxParts } = paper;
  const language = chooseLanguage([order.lang, seller.language], texts);
  const say = texts[language as keyof typeof texts];
  const show = formatsOf(language, order, seller.timezone);
  const facts = {
    [say.date]: show.date(paper.issuedAt),
    [say.corrects]: corrects && `${corrects.number}, ${show.date(corrects.issuedAt)}`,
    [say.order]: String(order.number),
    [say.ordered]: show.date(order.createdAt),
    [say.sent]: order.fulfilledAt && show.date(order.fulfilledAt),
  };
  const shown = Object.entries(facts).filter(([, value]) => value !== null);
  const paid = paper.payments
    .filter(({ currency }) => currency === order.currency)
    .map((one) => `${say.paid} ${show.date(one.receivedAt)}: ${show.money(one.amountMinor)} (${say[one.provider]})`);
  const isTaxed = taxParts.some(({ tax, rate }) => tax > 0 || (rate ?? 0) > 0);
  const taxes = taxParts.map(({ rate, gross, tax }) => {
    return [rate === null ? "" : `${rate} %`, ...[gross - tax, tax, gross].map(show.money)];
  });
  const parts: Record<string, string> = {
    ...{ language, direction: say.direction, style },
    title: html(say[corrects ? "credit_note" : "invoice"].replace("{number}", String(paper.number))),
    hash: new Bun.CryptoHasher("sha256").update(style).digest("base64"),
    buyer: html(buyerOf(order, language, say.vat_id)),
    seller: html([seller.invoiceFrom, seller.url].filter(Boolean).join("\n")),
    facts: shown.map(([name, value]) => `<dt>${html(name)}</dt><dd>${html(value)}</dd>`).join(""),
    items: tableOf([say.item, say.quantity, say.price, say.amount], rowsOf(paper, say, show)),
    taxes: isTaxed ? tableOf([say.tax, say.net, say.tax, say.gross], taxes) : `<p>${html(seller.taxNote ?? "")}</p>`,
    paid: paid.map((line) => `<p>${html(line)}</p>`).join(""),
  };
  return page.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] as string);
}

type Texts = (typeof texts)["en"];

function formatsOf(language: string, { currency, currencyDigits: digits }: OrderRow, timeZone: string) {
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const money = new Intl.NumberFormat(`${language}-u-nu-latn`, { style: "currency", currency, ...decimals });
  const date = new Intl.DateTimeFormat(`${language}-u-nu-latn-ca-gregory`, { dateStyle: "long", timeZone });
  return {
    money: (minor: number) => money.format(toAmount(minor, digits)),
    date: (time: string) => date.format(new Date(time)),
  };
}

function buyerOf({ billingAddress, shippingAddress }: OrderRow, language: string, vatIdText: string): string {
  const address = JSON.parse(billingAddress ?? shippingAddress ?? "{}") as Record<string, string | null | undefined>;
  const { company, name, line1, line2, postal_code: code, city, region, country, vat_id: vatId } = address;
  const place = [code, city].filter(Boolean).join(" ");
  const land = country && new Intl.DisplayNames(language, { type: "region" }).of(country);
  const lines = [company, name, line1, line2, place, region, land, vatId && `${vatIdText} ${vatId}`];
  return lines.filter(Boolean).join("\n");
}

/** Returns rows for pieces, shipping, tax, reductions and total. The first cell of each row is HTML. */
function rowsOf(paper: Paper, say: Texts, show: ReturnType<typeof formatsOf>): string[][] {
  const { corrects, pieces, shipping, order, taxParts } = paper;
  const items = pieces.map(({ line, quantity, amount }) => {
    const title = [line.title, line.variantTitle].filter(Boolean).join(", ");
    const rate = taxParts.find(({ taxClass }) => taxClass === line.taxClass)?.rate ?? null;
    const isReduced = !corrects && line.discountMinor > 0;
    const details = [
      line.sku,
      rate === null ? null : `${say.tax} ${rate} %`,
      isReduced ? `${say.discount}: −${show.money(line.discountMinor)}` : null,
    ];
    const small = details.filter(Boolean).map((text) => `<small><bdi>${html(text)}</bdi></small>`);
    const price = corrects ? "" : show.money(line.priceMinor);
    return [`<bdi>${html(title)}</bdi>${small.join("")}`, String(quantity), price, show.money(amount)];
  });
  // If prices exclude tax, an invoice adds the tax below. The amounts of a credit note include tax.
  const added = corrects || order.pricesIncludeTax ? 0 : order.taxMinor;
  const rest = paper.amount - sumOf(pieces, ({ amount }) => amount) - shipping - added;
  const extras: [string, number][] = [
    [say.shipping, shipping],
    [say.tax, added],
    [rest > 0 ? say.reduction : say.credited, rest],
  ];
  const sums = [...extras.filter(([, amount]) => amount !== 0), [say.total, paper.amount] as const];
  return [...items, ...sums.map(([name, amount]) => [html(name), "", "", show.money(amount)])];
}

/** Returns a table. The first cell of each row is HTML, the others are figures. */
function tableOf(head: string[], rows: string[][]): string {
  const row = (name: "th" | "td", [first = "", ...figures]: string[]) =>
    `<tr><${name}>${first}</${name}>${figures.map((one) => `<${name} class="n">${html(one)}</${name}>`).join("")}</tr>`;
  const body = rows.map((cells) => row("td", cells)).join("");
  return `<table><thead>${row("th", head)}</thead><tbody>${body}</tbody></table>`;
}
