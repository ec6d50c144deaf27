import { invalidField } from "../../errors.ts";
import { largestMinor, multiplyDivide, splitAmount } from "../../values/money.ts";
import { calculateTaxes, type TaxLine } from "../taxes/calculate.ts";
import type { OrderRow } from "./read.ts";

/** All amounts are in minor units. */
export interface Goods {
  subtotals: number[];
  /** The discount of each line, from code and points together. */
  discounts: number[];
  /** The sum of the lines after discount. */
  value: number;
}

/** Returns the amount of each line before discount. Errors: validationFailed for amounts too large to be exact. */
export function subtotalsOf(items: readonly { priceMinor: number; quantity: number }[], digits: number): number[] {
  const max = largestMinor(digits);
  let total = 0;
  // All whole numbers up to the maximum are exact, so rounding cannot hide an amount above the maximum.
  return items.map(({ priceMinor, quantity }, index) => {
    const subtotal = priceMinor * quantity;
    if (subtotal > max) throw invalidField(`items.${index}.quantity`, "makes an amount that is too large to be exact");
    total += subtotal;
    if (total > max) throw invalidField("items", "make a total that is too large to be exact");
    return subtotal;
  });
}

/** Subtracts the discounts of code and points. Errors: validationFailed if the points are worth more than the goods. */
export function discountGoods(
  subtotals: number[],
  byCode: readonly number[],
  points: { count: number; value: number },
): Goods {
  const left = subtotals.map((subtotal, index) => subtotal - (byCode[index] ?? 0));
  const goods = left.reduce((sum, amount) => sum + amount, 0);
  if (points.count === 0) {
    return { subtotals, discounts: subtotals.map((_, index) => byCode[index] ?? 0), value: goods };
  }
  const worth = BigInt(points.count) * BigInt(points.value);
  if (worth > BigInt(goods)) throw invalidField("use_points", "are worth more than the items");
  const byPoints = splitAmount(Number(worth), left);
  const discounts = byPoints.map((amount, index) => amount + (byCode[index] ?? 0));
  return { subtotals, discounts, value: goods - Number(worth) };
}

/** How to tax an order: by the rates of the tax classes, or by an amount from a backend. Without `rates`, tax is 0. */
type Taxation = { rates: ReadonlyMap<string, number> | undefined } | { tax: number };

interface Terms {
  taxClasses: readonly string[];
  /** Without a tax class, shipping is taxed like the goods. */
  shipping: { amount: number; taxClass: string | null };
  taxation: Taxation;
  pricesIncludeTax: boolean;
  digits: number;
}

/**
 * Calculates the tax of an order, and adds up its amounts.
 * @throws validationFailed for a total that is too large to be exact.
 */
export function addUp({ subtotals, discounts }: Goods, terms: Terms) {
  const { shipping, pricesIncludeTax, digits } = terms;
  const nets = subtotals.map((subtotal, index) => subtotal - (discounts[index] as number));
  const taxes = taxAmounts({ nets, subtotals }, terms);
  const lines = nets.map((net, index) => {
    const tax = taxes.lines[index] as number;
    const amounts = { subtotal: subtotals[index] as number, discount: discounts[index] as number, tax };
    return { ...amounts, total: pricesIncludeTax ? net : net + tax };
  });
  const sum = (of: (line: (typeof lines)[number]) => number) => lines.reduce((total, line) => total + of(line), 0);
  const shippingTax = taxes.shipping;
  const total = sum((line) => line.total) + shipping.amount + (pricesIncludeTax ? 0 : shippingTax);
  if (total > largestMinor(digits)) {
    throw invalidField("items", "make a total that is too large to be exact");
  }
  return {
    ...{ subtotal: sum((line) => line.subtotal), discount: sum((line) => line.discount), shipping: shipping.amount },
    ...{ shippingTax, tax: sum((line) => line.tax) + shippingTax, total },
    ...{ lines, taxLines: taxes.taxLines },
  };
}

function taxAmounts(
  { nets, subtotals }: Record<"nets" | "subtotals", readonly number[]>,
  { taxClasses, shipping, taxation, pricesIncludeTax }: Terms,
): { lines: number[]; shipping: number; taxLines: TaxLine[] } {
  if ("tax" in taxation) return { lines: splitAmount(taxation.tax, nets), shipping: 0, taxLines: [] };
  if (taxation.rates === undefined) return { lines: nets.map(() => 0), shipping: 0, taxLines: [] };
  const lines = nets.map((amount, index) => {
    return { amount, subtotal: subtotals[index] as number, taxClass: taxClasses[index] as string };
  });
  return calculateTaxes(lines, shipping, { rates: taxation.rates, pricesIncludeTax });
}

/** Returns `whole × part ÷ of`, rounded down. Returns exactly `whole` if `part` equals `of`. */
export function shareOf(whole: number, part: number, of: number): number {
  if (of === 0) return 0;
  return multiplyDivide(whole, part, of).part;
}

/** Returns the amount that is due, in minor units; below zero if too much was received. */
export function dueOf(
  order: Pick<OrderRow, "totalMinor" | "creditedMinor" | "receivedMinor" | "refundedMinor">,
): number {
  return order.totalMinor - order.creditedMinor - order.receivedMinor + order.refundedMinor;
}
