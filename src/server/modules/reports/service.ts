import { sql } from "drizzle-orm";
import { nextTurn } from "../../concurrency/event-loop.ts";
import type { Ctx } from "../../context.ts";
import { all, ofStore, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { readSale } from "../orders/credits.ts";
import { orders } from "../orders/table.ts";
import type { ReportQuery } from "./model.ts";
import { parseRange, periodOf } from "./range.ts";

const maxOrders = 100_000;
const batchSize = 100;

// What is reported of an order also changed its `updated_at`, which has an index.
const selectChanged = statement((q) =>
  q
    .select({ id: orders.id })
    .from(orders)
    .where(sql`${ofStore(orders)} and updated_at >= ${param("since")}`)
    .limit(maxOrders + 1),
);
const isListed = sql`${ofStore(orders)} and id in (select value from json_each(${param("ids")}))`;
const selectOrders = statement((q) => q.select().from(orders).where(isListed));

type Sale = Awaited<ReturnType<typeof readSale>>;
type Sums = Record<string, number>;
type Labels = Record<string, string | number | null>;

/** Something that happened to an order at a time. Amounts are in minor units, and their names end with `_minor`. */
interface Entry {
  at: string | null;
  /** With the currency and, if the report has periods, the period, these identify a row. */
  key?: Labels;
  labels?: Labels;
  sums: Sums;
}

interface Report {
  hasPeriods: boolean;
  /** The columns before the sums. */
  columns: readonly string[];
  sums: readonly string[];
  entriesOf(sale: Sale, homeCountry: string | null): Entry[];
}

const sumOf = <T>(rows: readonly T[], read: (row: T) => number) => rows.reduce((sum, row) => sum + read(row), 0);

const sales: Report = {
  hasPeriods: true,
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
  hasPeriods: true,
  columns: ["period", "country", "tax_class", "tax_rate", "currency"],
  sums: ["sold_net_minor", "sold_tax_minor", "returned_net_minor", "returned_tax_minor"],
  entriesOf({ order, taxParts, credits }, homeCountry) {
    const address = JSON.parse(order.shippingAddress ?? "{}") as { country?: string };
    const country = address.country ?? homeCountry;
    const keyOf = (part: { taxClass: string | null; rate: number | null }) => {
      return { country, tax_class: part.taxClass, tax_rate: part.rate };
    };
    return [
      ...taxParts.map((part) => {
        return {
          at: order.paidAt,
          key: keyOf(part),
          sums: { sold_net_minor: part.gross - part.tax, sold_tax_minor: part.tax },
        };
      }),
      ...credits.flatMap(({ at, taxParts: parts }) =>
        parts.map((part) => {
          const sums = { returned_net_minor: part.gross - part.tax, returned_tax_minor: part.tax };
          return { at, key: keyOf(part), sums };
        }),
      ),
    ];
  },
};

const products: Report = {
  hasPeriods: false,
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
  hasPeriods: false,
  columns: ["customer", "user_id", "currency"],
  sums: ["orders", "sold_minor", "returned_minor"],
  entriesOf({ order, credits }) {
    const labels = { customer: order.email ?? order.userId ?? "guest" };
    // A guest's orders have no user, and are told apart by their address.
    const key = { user_id: order.userId, ...(order.userId === null && labels) };
    return [
      { at: order.paidAt, key, labels, sums: { orders: 1, sold_minor: order.totalMinor } },
      ...credits.map(({ at, amount }) => ({ at, key, labels, sums: { returned_minor: amount } })),
    ];
  },
};

export const reports = { sales, products, customers, tax };
export type ReportName = keyof typeof reports;
export type ReportRow = Labels;

/**
 * Returns the rows of a report: by period, or those that sold most first. Orders count when they were paid, and credits
 * when they were made. Over all time, the sums are those that `doctor` recomputes.
 * @throws validationFailed for a wrong range, and for more than 100,000 orders that changed since its beginning.
 */
export async function readReport(ctx: Ctx, name: ReportName, query: ReportQuery): Promise<ReportRow[]> {
  const { hasPeriods, columns, sums: names, entriesOf } = reports[name];
  const { since, until } = parseRange(ctx, query);
  const rows = new Map<string, { labels: Labels; sums: Sums; digits: number }>();
  const empty = Object.fromEntries(names.map((sum) => [sum, 0]));
  for await (const sale of readSales(ctx, since)) {
    const { currency, currencyDigits: digits } = sale.order;
    for (const { at, key, labels, sums } of entriesOf(sale, ctx.tenant.country)) {
      if (at === null || at < since || at >= until) continue;
      const place = hasPeriods ? { period: periodOf(at, ctx.tenant.timezone, query.by ?? "day") } : {};
      const identity = { ...place, ...key, currency };
      const text = JSON.stringify(identity);
      const row = rows.get(text) ?? { labels: {}, sums: { ...empty }, digits };
      Object.assign(row.labels, identity, labels);
      for (const [sum, value] of Object.entries(sums)) row.sums[sum] = (row.sums[sum] as number) + value;
      rows.set(text, row);
    }
  }
  const orderOf = ({ labels, sums }: { labels: Labels; sums: Sums }) =>
    hasPeriods ? columns.map((column) => String(labels[column] ?? "")) : [-(sums.sold_minor as number)];
  const sorted = [...rows.values()].sort((a, b) => compare(orderOf(a), orderOf(b)));
  return sorted.map(({ labels, sums, digits }) => {
    const shown = names.map((sum) => [
      [sum.replace(/_minor$/, ""), showSum(sum, sums, digits)],
      [sum, sums[sum]],
    ]);
    const fixed = columns.map((column) => [column, labels[column] ?? null]);
    return Object.fromEntries([...fixed, ...shown.flat()]);
  });
}

function showSum(name: string, sums: Sums, digits: number): number {
  const value = sums[name] as number;
  return name.endsWith("_minor") ? toAmount(value, digits) : value;
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : (a[at] as string) < (b[at] as string) ? -1 : 1;
}

async function* readSales(ctx: Ctx, since: string): AsyncGenerator<Sale> {
  const tenantId = ctx.tenant.id;
  const ids = await all(ctx.db, selectChanged, { tenantId, since });
  if (ids.length > maxOrders) {
    throw invalidField("since", `must be later: more than ${maxOrders} orders have changed since then`);
  }
  for (let at = 0; at < ids.length; at += batchSize) {
    // Other requests are answered between the batches.
    await nextTurn();
    const batch = JSON.stringify(ids.slice(at, at + batchSize).map(({ id }) => id));
    const page = await all(ctx.db, selectOrders, { tenantId, ids: batch });
    yield* await Promise.all(page.map((order) => readSale(ctx, order)));
  }
}
