import type { Ctx } from "../../../context.ts";
import { guardFormula, writeCsv } from "../../../values/csv-injection.ts";
import { formatMinor } from "../../../values/money.ts";
import { type readSale, readSales, type TaxPart } from "../credits.ts";

type Delimiter = Parameters<typeof writeCsv>[1];

/** The part of an order or refund with one tax rate. Amounts are texts such as `12.50`, negative for refunds. */
export type AccountingRow = Awaited<ReturnType<typeof rowsOf>>[number];

const columns = [
  ...["document", "date", "order_number", "invoice_number", "country", "currency", "tax_class", "tax_rate"],
  ...["net", "tax", "gross", "payment", "reference"],
] as (keyof AccountingRow)[];
const numbers: ReadonlySet<string> = new Set(["tax_rate", "net", "tax", "gross"]);

/** Returns the header. With semicolons, it begins with a byte order mark, without which Excel does not read UTF-8. */
export function accountingHeader(delimiter?: Delimiter): string {
  return `${delimiter === ";" ? "\uFEFF" : ""}${writeCsv([columns], delimiter)}`;
}

/**
 * Returns rows as CSV. With semicolons, numbers have a decimal comma, as in German. Texts that a spreadsheet would run
 * as formulas get an apostrophe; amounts below zero stay numbers.
 */
export function accountingCsv(rows: readonly AccountingRow[], delimiter?: Delimiter): string {
  const point = delimiter === ";" ? "," : ".";
  const show = (name: string, text: string) => (numbers.has(name) ? text.replace(".", point) : guardFormula(text));
  return writeCsv(
    rows.map((row) => columns.map((name) => show(name, String(row[name] ?? "")))),
    delimiter,
  );
}

/**
 * Yields a row for each tax rate of paid orders and of the credits of their refunds. `since` and `until` limit the time
 * of payment or refund. The rows add up to `total_minor` and `credited_minor`.
 */
export async function* readAccounting(
  ctx: Ctx,
  { since = "", until = "~" }: Partial<Record<"since" | "until", string | undefined>>,
) {
  for await (const sales of readSales(ctx, since)) {
    yield sales.flatMap((sale) => {
      const paid = { id: null, at: sale.order.paidAt ?? "", taxParts: sale.taxParts };
      const documents = sale.order.paidAt === null ? [] : [paid, ...sale.credits];
      const wanted = documents.filter(({ at }) => at >= since && at < until);
      return wanted.flatMap((document) => rowsOf(ctx, sale, document));
    });
  }
}

type Sale = Awaited<ReturnType<typeof readSale>>;

function rowsOf(
  { tenant: { timezone } }: Ctx,
  { order, country, payments, issued }: Sale,
  { id, at, taxParts }: { id: string | null; at: string; taxParts: TaxPart[] },
) {
  const show = (minor: number) => `${id !== null && minor > 0 ? "-" : ""}${formatMinor(minor, order.currencyDigits)}`;
  const shown = taxParts.filter(({ gross }, index) => gross > 0 || (index === 0 && order.totalMinor === 0));
  return shown.map(({ taxClass, rate, gross, tax }) => ({
    document: id === null ? "order" : "refund",
    // Swedish writes dates as 2030-01-31.
    date: new Intl.DateTimeFormat("sv-SE", { timeZone: timezone }).format(new Date(at)),
    order_number: order.number,
    invoice_number: issued.find(({ refundId }) => refundId === id)?.number ?? null,
    ...{ country, currency: order.currency, tax_class: taxClass, tax_rate: rate },
    ...{ net: show(gross - tax), tax: show(tax), gross: show(gross) },
    payment: [...new Set(payments.map(({ provider }) => provider))].join(" "),
    reference: payments.flatMap(({ reference }) => reference ?? []).join(" "),
  }));
}
