import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, ofStore, param, statement } from "../../../db/statement.ts";
import { guardFormula, writeCsv } from "../../../values/csv-injection.ts";
import { formatMinor } from "../../../values/money.ts";
import { invoices } from "../../invoices/table.ts";
import { creditsOf, type TaxPart, taxPartsOf } from "../credits.ts";
import { orderLines, orderRefunds, orders, payments } from "../table.ts";

const pageSize = 100;

// Each payment and refund changes `updated_at`, so an order that was not changed since then has no rows.
const selectOrders = statement((q) =>
  q
    .select()
    .from(orders)
    .where(
      sql`${ofStore(orders)} and number > ${param("after")} and paid_at is not null and updated_at >= ${param("since")}`,
    )
    .orderBy(orders.number)
    .limit(pageSize),
);
const ofPage = sql`tenant_id = ${param("tenantId")} and order_id in (select value from json_each(${param("ids")}))`;
const selectLines = statement((q) => q.select().from(orderLines).where(ofPage));
const selectRefunds = statement((q) => q.select().from(orderRefunds).where(ofPage).orderBy(orderRefunds.id));
const selectPayments = statement((q) => q.select().from(payments).where(ofPage).orderBy(payments.id));
const selectInvoices = statement((q) => q.select().from(invoices).where(ofPage));

/** The part of an order or refund with one tax rate. Amounts of refunds are below zero. */
export type AccountingRow = Record<"document" | "date" | "currency" | "net" | "tax" | "gross", string> & {
  order_number: number;
  invoice_number: number | null;
  country: string | null;
  tax_class: string | null;
  tax_rate: number | null;
  payment: string;
  reference: string;
};

const accountingColumns = [
  ...["document", "date", "order_number", "invoice_number", "country", "currency", "tax_class", "tax_rate"],
  ...["net", "tax", "gross", "payment", "reference"],
] as (keyof AccountingRow)[];

export const accountingHeader = writeCsv([accountingColumns]);

/**
 * Yields paid orders and what refunds took off their prices, a row for each tax rate. Orders count when they were paid,
 * refunds when they were made, in the store's time zone. The sums are those of `total_minor` and `credited_minor`.
 */
export async function* readAccounting(ctx: Ctx, { since = "", until = "~" }: { since?: string; until?: string }) {
  const { id: tenantId, timezone, country } = ctx.tenant;
  const days = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone });
  let after = 0;
  for (;;) {
    const page = await all(ctx.db, selectOrders, { tenantId, after, since });
    const of = { tenantId, ids: JSON.stringify(page.map(({ id }) => id)) };
    const [lines, refunds, paid, issued] = await Promise.all([
      all(ctx.db, selectLines, of),
      all(ctx.db, selectRefunds, of),
      all(ctx.db, selectPayments, of),
      all(ctx.db, selectInvoices, of),
    ]);
    yield page.flatMap((order) => {
      const isOf = ({ orderId }: { orderId: string }) => orderId === order.id;
      const ofOrder = paid.filter(isOf);
      const fixed = {
        order_number: order.number,
        country: (JSON.parse(order.shippingAddress ?? "{}") as { country?: string }).country ?? country,
        currency: order.currency,
        payment: [...new Set(ofOrder.map(({ provider }) => provider))].join(" "),
        reference: ofOrder.flatMap(({ reference }) => reference ?? []).join(" "),
      };
      const rowsOf = (document: "order" | "refund", at: string, id: string | null, parts: readonly TaxPart[]) => {
        if (at < since || at >= until) return [];
        const invoice = issued.find((one) => isOf(one) && one.refundId === id)?.number ?? null;
        const show = (minor: number) =>
          `${document === "refund" && minor > 0 ? "-" : ""}${formatMinor(minor, order.currencyDigits)}`;
        const shown = parts.filter(({ gross }, index) => gross > 0 || (index === 0 && order.totalMinor === 0));
        return shown.map(({ taxClass, rate, gross, tax }): AccountingRow => {
          const amounts = { net: show(gross - tax), tax: show(tax), gross: show(gross) };
          const date = days.format(new Date(at));
          return { ...fixed, ...amounts, document, date, invoice_number: invoice, tax_class: taxClass, tax_rate: rate };
        });
      };
      const credits = creditsOf(order, lines.filter(isOf), refunds.filter(isOf));
      return [
        ...rowsOf("order", order.paidAt as string, null, taxPartsOf(order)),
        ...credits.flatMap(({ id, at, taxParts }) => rowsOf("refund", at, id, taxParts)),
      ];
    });
    if (page.length < pageSize) return;
    after = page.at(-1)?.number ?? after;
  }
}

const amountColumns: ReadonlySet<string> = new Set(["net", "tax", "gross"]);

/** Texts that a spreadsheet would run as formulas get an apostrophe; amounts below zero stay numbers. */
export function accountingCsv(rows: readonly AccountingRow[]): string {
  const cell = (row: AccountingRow, name: keyof AccountingRow) => {
    const text = String(row[name] ?? "");
    return amountColumns.has(name) ? text : guardFormula(text);
  };
  return writeCsv(rows.map((row) => accountingColumns.map((name) => cell(row, name))));
}
