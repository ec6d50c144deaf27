import { splitAmount } from "../../values/money.ts";
import { shareOf } from "./amounts.ts";
import type { OrderRow } from "./read.ts";
import type { orderLines, orderRefunds } from "./table.ts";

/** The part of an order, or of what was credited of it, with one tax rate. In minor units; `gross` includes the tax. */
export interface TaxPart {
  /** Class and rate in percent; null for a tax that a backend calculated. */
  taxClass: string | null;
  rate: number | null;
  gross: number;
  tax: number;
}

type Line = typeof orderLines.$inferSelect;
type Refund = typeof orderRefunds.$inferSelect;
type StoredTaxLine = Record<"rate" | "base_minor" | "tax_minor", number> & { class: string };
type Pieces = Record<"quantity" | "amount_minor", number> & { line_id: string };

/** Splits the total of an order by tax rate. */
export function taxPartsOf({ taxLines, totalMinor, taxMinor }: OrderRow): TaxPart[] {
  const stored = JSON.parse(taxLines) as StoredTaxLine[];
  if (stored.length === 0) return [{ taxClass: null, rate: null, gross: totalMinor, tax: taxMinor }];
  return stored.map(({ class: taxClass, rate, base_minor: base, tax_minor: tax }) => {
    return { taxClass, rate, gross: base + tax, tax };
  });
}

/**
 * Returns what refunds took off the price of an order, oldest first, and splits it by tax rate. If everything was
 * credited, the parts add up to those of the order.
 * @param refunds all refunds of the order, by id. The parts of one refund have the same time; repetitions of failed
 * parts count as these.
 */
export function creditsOf(order: OrderRow, lines: readonly Line[], refunds: readonly Refund[]) {
  const timeOf = ({ retryOf, createdAt }: Refund): string => {
    const failed = refunds.find(({ id }) => id === retryOf);
    return failed ? timeOf(failed) : createdAt;
  };
  const parts = taxPartsOf(order);
  const left = parts.map(({ gross }) => gross);
  const credits = [];
  for (const [at, rows] of [...Map.groupBy(refunds, timeOf)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const amount = rows.reduce((sum, row) => sum + (row.state === "failed" ? 0 : row.creditedMinor), 0);
    const [first] = rows;
    if (first === undefined || amount === 0) continue;
    const original = rows.filter(({ retryOf }) => retryOf === null);
    const pieces = original.flatMap((row) => JSON.parse(row.lines) as Pieces[]);
    const shipping = original.reduce((sum, row) => sum + row.shippingMinor, 0);
    const amounts = splitCredit(amount, left, askedOf({ order, lines, parts }, pieces, shipping));
    const taxParts = parts.map((part, index): TaxPart => {
      const [gross, before] = [amounts[index] as number, part.gross - (left[index] as number)];
      left[index] = (left[index] as number) - gross;
      const taxUpTo = (credited: number) => shareOf(part.tax, credited, part.gross);
      return { ...part, gross, tax: taxUpTo(before + gross) - taxUpTo(before) };
    });
    credits.push({ ...{ id: first.id, at, amount, pieces, shipping, providerId: first.providerId }, taxParts });
  }
  return credits;
}

/** The value of the refunded lines and of shipping in each tax part. */
function askedOf(
  { order, lines, parts }: { order: OrderRow; lines: readonly Line[]; parts: readonly TaxPart[] },
  pieces: readonly Pieces[],
  shipping: number,
): number[] {
  const isIn = (part: TaxPart, line: Line | undefined) => part.taxClass === null || part.taxClass === line?.taxClass;
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const goods = parts.map((part) => sum(lines.map((line) => (isIn(part, line) ? line.totalMinor : 0))));
  const shippingParts = parts.map(({ gross }, index) => gross - (goods[index] as number));
  const shippingShares = order.shippingMinor === 0 ? parts.map(() => 0) : splitAmount(shipping, shippingParts);
  return parts.map((part, index) => {
    const ofPart = pieces.filter((piece) =>
      isIn(
        part,
        lines.find(({ id }) => id === piece.line_id),
      ),
    );
    return sum(ofPart.map((piece) => piece.amount_minor)) + (shippingShares[index] as number);
  });
}

/** Splits a credit by what it is for, as far as that is left, and the rest by what is left of each part. */
function splitCredit(amount: number, left: readonly number[], asked: readonly number[]): number[] {
  const wanted = asked.map((part, index) => Math.min(part, left[index] as number));
  const sum = wanted.reduce((total, part) => total + part, 0);
  if (sum >= amount) return splitAmount(amount, wanted);
  const rest = left.map((part, index) => part - (wanted[index] as number));
  const shares = splitAmount(amount - sum, rest);
  return wanted.map((part, index) => part + (shares[index] as number));
}
