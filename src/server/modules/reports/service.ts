import type { Ctx } from "../../context.ts";
import { sumOf, toAmount } from "../../values/money.ts";
import { type readSale, readSales, type TaxPart } from "../orders/credits.ts";
import type { ReportQuery } from "./model.ts";
import { parseRange, periodOf } from "./range.ts";

const maxOrders = 100_000;

type Sale = Awaited<ReturnType<typeof readSale>>;
type Sums = Record<string, number>;
export type ReportRow = Record<string, string | number | null>;

/** A sale, payment, credit or refund. Amounts are in minor units, and their names end with `_minor`. */
interface Entry {
  at: string | null;
  /** The columns that identify a row, besides the currency and the period. */
  key?: ReportRow;
  labels?: ReportRow;
  sums: Sums;
}

interface Report {
  /** The columns before the sums. If the first is `period`, each period has rows of its own. */
  columns: readonly string[];
  sums: readonly string[];
  entriesOf(sale: Sale): Entry[];
}

const sales: Report = {
  columns: ["period", "currency"],
  sums: [
    ...["orders", "pieces", "sold_minor", "sold_tax_minor", "returned_pieces", "returned_minor", "returned_tax_minor"],
    ...["received_minor", "refunded_minor"],
  ],
  entriesOf({ order, lines, credits, payments, refunds }) {
    const pieces = sumOf(lines, ({ quantity }) => quantity);
    const sums = { orders: 1, pieces, sold_minor: order.totalMinor, sold_tax_minor: order.taxMinor };
    const paid = payments.filter(({ currency }) => currency === order.currency);
    const made = refunds.filter(({ state }) => state !== "failed");
    return [
      { at: order.paidAt, sums },
      ...credits.map(({ at, amount, pieces: returned, taxParts }) => {
        const tax = sumOf(taxParts, (part) => part.tax);
        const count = sumOf(returned, ({ quantity }) => quantity);
        return { at, sums: { returned_pieces: count, returned_minor: amount, returned_tax_minor: tax } };
      }),
      ...paid.map((one) => ({ at: one.receivedAt, sums: { received_minor: one.amountMinor } })),
      ...made.map((one) => ({ at: one.createdAt, sums: { refunded_minor: one.amountMinor } })),
    ];
  },
};

const tax: Report = {
  columns: ["period", "country", "tax_class", "tax_rate", "currency"],
  sums: ["sold_net_minor", "sold_tax_minor", "returned_net_minor", "returned_tax_minor"],
  entriesOf({ order, country, taxParts, credits }) {
    const entriesFor = (at: string | null, parts: TaxPart[], word: "sold" | "returned") =>
      parts.map(({ taxClass, rate, gross, tax: amount }) => {
        const sums = { [`${word}_net_minor`]: gross - amount, [`${word}_tax_minor`]: amount };
        return { at, key: { country, tax_class: taxClass, tax_rate: rate }, sums };
      });
    const returned = credits.flatMap((credit) => entriesFor(credit.at, credit.taxParts, "returned"));
    return [...entriesFor(order.paidAt, taxParts, "sold"), ...returned];
  },
};

const products: Report = {
  columns: ["product_id", "variant_id", "title", "sku", "currency"],
  sums: ["sold_pieces", "sold_minor", "returned_pieces", "returned_minor"],
  entriesOf({ order, lines, credits }) {
    const entryOf = (line: Sale["lines"][number], at: string | null, sums: Sums): Entry => {
      const title = [line.title, line.variantTitle].filter(Boolean).join(", ");
      const key = { product_id: line.productId, variant_id: line.variantId };
      return { at, key, labels: { title, sku: line.sku }, sums };
    };
    return [
      ...lines.map((line) => entryOf(line, order.paidAt, { sold_pieces: line.quantity, sold_minor: line.totalMinor })),
      ...credits.flatMap(({ at, pieces }) =>
        pieces.map(({ line, quantity, amount }) =>
          entryOf(line, at, { returned_pieces: quantity, returned_minor: amount }),
        ),
      ),
    ];
  },
};

const customers: Report = {
  columns: ["customer", "user_id", "currency"],
  sums: ["orders", "sold_minor", "returned_minor"],
  entriesOf({ order, credits }) {
    const labels = { customer: order.email ?? order.userId ?? "guest" };
    // Orders of guests have no user, so guests are distinguished by their email address.
    const key = { user_id: order.userId, ...(order.userId === null && labels) };
    return [
      { at: order.paidAt, key, labels, sums: { orders: 1, sold_minor: order.totalMinor } },
      ...credits.map(({ at, amount }) => ({ at, key, labels, sums: { returned_minor: amount } })),
    ];
  },
};

export const reports = { sales, products, customers, tax };
export type ReportName = keyof typeof reports;

/**
 * Returns the rows of a report, sorted by period if it has periods, otherwise by the amount sold. Selects orders by the
 * time of payment, and credits by the time of the refund.
 * @throws validationFailed for a wrong range, and for more than 100,000 orders that changed since its beginning.
 */
export async function readReport(ctx: Ctx, name: ReportName, query: ReportQuery): Promise<ReportRow[]> {
  const { columns, sums: names, entriesOf } = reports[name];
  const hasPeriods = columns[0] === "period";
  const { since, until } = parseRange(ctx, query);
  const rows = new Map<string, { labels: ReportRow; sums: Sums; digits: number }>();
  const empty = Object.fromEntries(names.map((sum) => [sum, 0]));
  for await (const sales of readSales(ctx, since, maxOrders)) {
    const entries = sales.flatMap((sale) => entriesOf(sale).map((entry) => ({ ...entry, order: sale.order })));
    for (const { at, key, labels, sums, order } of entries) {
      if (at === null || at < since || at >= until) continue;
      const { currency, currencyDigits: digits } = order;
      const place = hasPeriods ? { period: periodOf(at, ctx.tenant.timezone, query.by ?? "day") } : {};
      const identity = { ...place, ...key, currency };
      const text = JSON.stringify(identity);
      const row = rows.get(text) ?? { labels: {}, sums: { ...empty }, digits };
      Object.assign(row.labels, identity, labels);
      for (const [sum, value] of Object.entries(sums)) row.sums[sum] = (row.sums[sum] as number) + value;
      rows.set(text, row);
    }
  }
  const placeOf = (labels: ReportRow) => columns.map((column) => labels[column] ?? "").join("\n");
  const sorted = [...rows.values()].sort((a, b) => {
    if (!hasPeriods) return (b.sums.sold_minor as number) - (a.sums.sold_minor as number);
    return placeOf(a.labels) < placeOf(b.labels) ? -1 : 1;
  });
  return sorted.map(({ labels, sums, digits }) => {
    const fixed = columns.map((column) => [column, labels[column] ?? null]);
    const shown = names.flatMap((sum) => {
      const value = sums[sum] as number;
      const amount = [sum.replace(/_minor$/, ""), toAmount(value, digits)];
      return sum.endsWith("_minor") ? [amount, [sum, value]] : [[sum, value]];
    });
    return Object.fromEntries([...fixed, ...shown]);
  });
}
