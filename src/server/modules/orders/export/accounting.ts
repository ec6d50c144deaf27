import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, ofStore, param, statement } from "../../../db/statement.ts";
import { guardFormula, writeCsv } from "../../../values/csv-injection.ts";
import { formatMinor } from "../../../values/money.ts";
import { readSale, type TaxPart } from "../credits.ts";
import type { OrderRow } from "../read.ts";
import { orders } from "../table.ts";

type Delimiter = Parameters<typeof writeCsv>[1];

const pageSize = 100;
// Each payment and refund changes `updated_at`, so an order that was not changed since `since` has no rows.
const selectPaid = statement((q) =>
  q
    .select()
    .from(orders)
    .where(
      sql`${ofStore(orders)} and number > ${param("after")} and paid_at is not null and updated_at >= ${param("since")}`,
    )
    .orderBy(orders.number)
    .limit(pageSize),
);

/** The part of an order or refund with one tax rate. Amounts are texts such as `12.50`, negative for refunds. */
export type AccountingRow = Awaited<ReturnType<typeof rowsOf>>[number];

const columns = [
  ...["document", "date", "order_number", "invoice_number", "country", "currency", "tax_class", "tax_rate"],
  ...["net", "tax", "gross", "payment", "reference"],
] as (keyof AccountingRow)[];
const numbers: ReadonlySet<string> = new Set(["tax_rate", "net", "tax", "gross"]);

export const accountingHeader = (delimiter?: Delimiter) => writeCsv([columns], delimiter);

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
 * Yields a row for each tax rate of paid orders and of the credits of their refunds. Orders count when they were paid,
 * refunds when they were made. The rows add up to `total_minor` and `credited_minor`.
 */
export async function* readAccounting(
  ctx: Ctx,
  { since = "", until = "~" }: Partial<Record<"since" | "until", string | undefined>>,
) {
  let page: OrderRow[] = [];
  do {
    const after = page.at(-1)?.number ?? 0;
    page = await all(ctx.db, selectPaid, { tenantId: ctx.tenant.id, after, since });
    const sales = await Promise.all(page.map((order) => readSale(ctx, order)));
    yield sales.flatMap((sale) => {
      const paid = { id: null, at: sale.order.paidAt as string, taxParts: sale.taxParts };
      const documents = [paid, ...sale.credits].filter(({ at }) => at >= since && at < until);
      return documents.flatMap((document) => rowsOf(ctx, sale, document));
    });
  } while (page.length === pageSize);
}

type Sale = Awaited<ReturnType<typeof readSale>>;

function rowsOf(
  { tenant: { country, timezone } }: Ctx,
  { order, payments, issued }: Sale,
  { id, at, taxParts }: { id: string | null; at: string; taxParts: TaxPart[] },
) {
  const address = JSON.parse(order.shippingAddress ?? "{}") as { country?: string };
  const show = (minor: number) => `${id !== null && minor > 0 ? "-" : ""}${formatMinor(minor, order.currencyDigits)}`;
  const shown = taxParts.filter(({ gross }, index) => gross > 0 || (index === 0 && order.totalMinor === 0));
  return shown.map(({ taxClass, rate, gross, tax }) => ({
    document: id === null ? "order" : "refund",
    // Swedish writes dates as 2030-01-31.
    date: new Intl.DateTimeFormat("sv-SE", { timeZone: timezone }).format(new Date(at)),
    order_number: order.number,
    invoice_number: issued.find(({ refundId }) => refundId === id)?.number ?? null,
    country: address.country ?? country,
    ...{ currency: order.currency, tax_class: taxClass, tax_rate: rate },
    ...{ net: show(gross - tax), tax: show(tax), gross: show(gross) },
    payment: [...new Set(payments.map(({ provider }) => provider))].join(" "),
    reference: payments.flatMap(({ reference }) => reference ?? []).join(" "),
  }));
}
