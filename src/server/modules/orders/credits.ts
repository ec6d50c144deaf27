import { sql } from "drizzle-orm";
import { nextTurn } from "../../concurrency/event-loop.ts";
import type { Ctx } from "../../context.ts";
import { all, ofStore, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { splitAmount, sumOf } from "../../values/money.ts";
import { invoices } from "../invoices/table.ts";
import { divideRounded } from "../taxes/calculate.ts";
import { type OrderRow, ofOrder, selectLines } from "./read.ts";
import { type orderLines, orderRefunds, orders, payments } from "./table.ts";

/** The part of an order or credit with one tax rate, in minor units. `gross` includes the tax. */
export interface TaxPart {
  /** Tax class and rate in percent. Both are null if a backend calculated the tax. */
  taxClass: string | null;
  rate: number | null;
  gross: number;
  tax: number;
}

type Line = typeof orderLines.$inferSelect;
type Refund = typeof orderRefunds.$inferSelect;

export const selectRefunds = statement((q) => q.select().from(orderRefunds).where(ofOrder).orderBy(orderRefunds.id));
const selectPayments = statement((q) => q.select().from(payments).where(ofOrder).orderBy(payments.id));
const selectIssued = statement((q) => q.select().from(invoices).where(ofOrder).orderBy(invoices.number));

/** Returns the id of the refund to which a row belongs: the id of the refund's first row. */
export const refundOf = ({ id, partOf }: Refund): string => partOf ?? id;

/** Returns the refunded pieces. Only the first row of a refund has pieces, and its shipping is that of all rows. */
export const refundedPieces = ({ lines }: Refund) =>
  JSON.parse(lines) as (Record<"quantity" | "amount_minor", number> & { line_id: string })[];

/** Reads an order's lines, payments, refunds and invoices, and splits its total and its credits by tax rate. */
export async function readSale(ctx: Pick<Ctx, "db" | "tenant">, order: OrderRow) {
  const values = { tenantId: ctx.tenant.id, id: order.id };
  const [lines, refunds, paid, issued] = await Promise.all([
    all(ctx.db, selectLines, values),
    all(ctx.db, selectRefunds, values),
    all(ctx.db, selectPayments, values),
    all(ctx.db, selectIssued, values),
  ]);
  const taxParts = taxPartsOf(order);
  const address = JSON.parse(order.shippingAddress ?? "{}") as { country?: string };
  const country = address.country ?? ctx.tenant.country;
  const credits = creditsOf(lines, refunds, taxParts);
  return { order, country, lines, refunds, payments: paid, issued, taxParts, credits };
}

const batchSize = 100;
// Each sale, payment, credit and refund changes `updated_at` of its order.
const selectChanged = statement((q) =>
  q
    .select({ id: orders.id })
    .from(orders)
    .where(sql`${ofStore(orders)} and updated_at >= ${param("since")}`)
    .orderBy(orders.number)
    .limit(sql.placeholder("limit")),
);
const isListed = sql`${ofStore(orders)} and id in (select value from json_each(${param("ids")}))`;
const selectOrders = statement((q) => q.select().from(orders).where(isListed).orderBy(orders.number));

/** Yields the sales that changed since a time, by number, in batches. Errors: validationFailed for more than `max`. */
export async function* readSales(ctx: Ctx, since: string, max?: number) {
  const tenantId = ctx.tenant.id;
  const ids = await all(ctx.db, selectChanged, { tenantId, since, limit: max === undefined ? -1 : max + 1 });
  if (max !== undefined && ids.length > max) {
    throw invalidField("since", `must be later: more than ${max} orders have changed since then`);
  }
  for (let at = 0; at < ids.length; at += batchSize) {
    // Other requests are answered between the batches.
    await nextTurn();
    const batch = JSON.stringify(ids.slice(at, at + batchSize).map(({ id }) => id));
    const page = await all(ctx.db, selectOrders, { tenantId, ids: batch });
    yield await Promise.all(page.map((order) => readSale(ctx, order)));
  }
}

function taxPartsOf({ taxLines, totalMinor, taxMinor }: OrderRow): TaxPart[] {
  const stored = JSON.parse(taxLines) as (Record<"rate" | "base_minor" | "tax_minor", number> & { class: string })[];
  if (stored.length === 0) return [{ taxClass: null, rate: null, gross: totalMinor, tax: taxMinor }];
  return stored.map(({ class: taxClass, rate, base_minor: base, tax_minor: tax }) => {
    return { taxClass, rate, gross: base + tax, tax };
  });
}

/**
 * Returns the credit of each refund, oldest first, split by tax rate. If the whole order was credited, the credits of a
 * rate add up to the order's amount at that rate.
 */
function creditsOf(lines: readonly Line[], refunds: readonly Refund[], parts: readonly TaxPart[]) {
  const left = parts.map(({ gross }) => gross);
  return [...Map.groupBy(refunds, refundOf).values()].flatMap((rows) => {
    const amount = sumOf(rows, (row) => (row.state === "failed" ? 0 : row.creditedMinor));
    const first = rows.find(({ partOf }) => partOf === null);
    if (!first || amount === 0) return [];
    const { id, createdAt: at, shippingMinor: shipping, providerId } = first;
    const pieces = refundedPieces(first).map(({ line_id, quantity, amount_minor }) => {
      return { line: lines.find((line) => line.id === line_id) as Line, quantity, amount: amount_minor };
    });
    const ofPart = (part: TaxPart, amounts: { line: Line; amount: number }[]) =>
      sumOf(amounts, (one) => ([null, one.line.taxClass].includes(part.taxClass) ? one.amount : 0));
    const goods = lines.map((line) => ({ line, amount: line.totalMinor }));
    const shipped = splitAmount(
      shipping,
      parts.map((part) => part.gross - ofPart(part, goods)),
    );
    const amounts = splitCredit(
      amount,
      left,
      parts.map((part, index) => ofPart(part, pieces) + (shipped[index] ?? 0)),
    );
    const taxParts = parts.map((part, index): TaxPart => {
      const [gross, rest] = [amounts[index] as number, left[index] as number];
      left[index] = rest - gross;
      const taxUpTo = (credited: number) => (part.gross === 0 ? 0 : divideRounded(part.tax, credited, part.gross));
      return { ...part, gross, tax: taxUpTo(part.gross - rest + gross) - taxUpTo(part.gross - rest) };
    });
    return [{ id, at, amount, pieces, shipping, providerId, taxParts }];
  });
}

/** Splits a credit: each rate gets `asked`, at most `left`. The rest is split in proportion to the remaining `left`. */
function splitCredit(amount: number, left: readonly number[], asked: readonly number[]): number[] {
  const wanted = asked.map((part, index) => Math.min(part, left[index] as number));
  const rest = amount - sumOf(wanted, (part) => part);
  if (rest <= 0) return splitAmount(amount, wanted);
  const shares = splitAmount(
    rest,
    left.map((part, index) => part - (wanted[index] as number)),
  );
  return wanted.map((part, index) => part + (shares[index] as number));
}
