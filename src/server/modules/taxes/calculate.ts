import { multiplyDivide, splitAmount } from "../../values/money.ts";

/** Rates are whole thousandths of a percent: 19 % is 19000. */
export const rateScale = 100_000;

export interface TaxedAmount {
  /** The amount after discount. */
  amount: number;
  subtotal: number;
  taxClass: string;
}

/** The part of an order with one tax class. `base` is the amount without tax. */
export interface TaxLine {
  taxClass: string;
  rate: number;
  base: number;
  tax: number;
}

/**
 * Calculates the tax of goods and shipping. The tax of each class is rounded once, half away from zero, and then split
 * over the amounts of the class, so that the parts add up to it.
 * @param shipping If it has no class, it is split over the classes of the goods by their amounts. If all amounts are 0,
 * it is split by their subtotals.
 * @param rates by tax class; a class without a rate is taxed at 0.
 */
export function calculateTaxes(
  lines: readonly TaxedAmount[],
  shipping: { amount: number; taxClass: string | null },
  { rates, pricesIncludeTax }: { rates: ReadonlyMap<string, number>; pricesIncludeTax: boolean },
) {
  const classes = [...new Set(lines.map(({ taxClass }) => taxClass))];
  if (shipping.taxClass !== null && !classes.includes(shipping.taxClass)) classes.push(shipping.taxClass);
  const ofClass = (taxClass: string, field: "amount" | "subtotal" = "amount") =>
    lines.map((line) => (line.taxClass === taxClass ? line[field] : 0));
  const goods = classes.map((taxClass) => sum(ofClass(taxClass)));
  const weights = sum(goods) > 0 ? goods : classes.map((taxClass) => sum(ofClass(taxClass, "subtotal")));
  const shares =
    shipping.taxClass === null
      ? splitAmount(shipping.amount, weights)
      : classes.map((taxClass) => (taxClass === shipping.taxClass ? shipping.amount : 0));
  const lineTaxes = lines.map(() => 0);
  const taxLines: TaxLine[] = [];
  let shippingTax = 0;
  for (const [at, taxClass] of classes.entries()) {
    const rate = rates.get(taxClass) ?? 0;
    const share = shares[at] as number;
    const taxed = (goods[at] as number) + share;
    const tax = pricesIncludeTax
      ? taxed - divideRounded(taxed, rateScale, rateScale + rate)
      : divideRounded(taxed, rate, rateScale);
    const parts = splitAmount(tax, [...ofClass(taxClass), share]);
    shippingTax += parts.pop() as number;
    for (const [index, part] of parts.entries()) lineTaxes[index] = (lineTaxes[index] as number) + part;
    taxLines.push({ taxClass, rate, base: pricesIncludeTax ? taxed - tax : taxed, tax });
  }
  return { lines: lineTaxes, shipping: shippingTax, taxLines };
}

/** Returns `amount × by ÷ to`, rounded half away from zero. All arguments are whole numbers of at least 0. */
export function divideRounded(amount: number, by: number, to: number): number {
  const { part, remainder } = multiplyDivide(amount, by, to);
  return remainder * 2 >= to ? part + 1 : part;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
