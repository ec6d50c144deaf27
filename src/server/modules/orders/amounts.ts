import { invalidField } from "../../errors.ts";
import { largestMinor, splitAmount } from "../../values/money.ts";

/** Adds up an order in minor units. Errors: validationFailed for points worth more than the goods, or huge amounts. */
export function orderAmounts(
  items: readonly { priceMinor: number; quantity: number }[],
  given: { shipping: number; tax: number; points: { count: number; value: number }; digits: number },
) {
  const max = BigInt(largestMinor(given.digits));
  const subtotals = items.map(({ priceMinor, quantity }, index) => {
    const subtotal = BigInt(priceMinor) * BigInt(quantity);
    if (subtotal > max) throw invalidField(`items.${index}.quantity`, "makes an amount that is too large to be exact");
    return subtotal;
  });
  const subtotal = subtotals.reduce((sum, one) => sum + one, 0n);
  const discount = BigInt(given.points.count) * BigInt(given.points.value);
  if (discount > subtotal) throw invalidField("use_points", "are worth more than the items");
  const total = subtotal - discount + BigInt(given.shipping) + BigInt(given.tax);
  if (subtotal > max || total > max) throw invalidField("items", "make a total that is too large to be exact");
  const discounts = splitAmount(Number(discount), subtotals.map(Number));
  const nets = subtotals.map((one, index) => Number(one) - (discounts[index] as number));
  const taxes = splitAmount(given.tax, nets);
  return {
    subtotal: Number(subtotal),
    discount: Number(discount),
    shipping: given.shipping,
    tax: given.tax,
    total: Number(total),
    lines: nets.map((net, index) => ({
      subtotal: Number(subtotals[index]),
      discount: discounts[index] as number,
      tax: taxes[index] as number,
      total: net + (taxes[index] as number),
    })),
  };
}

/** Returns the share part/of of a whole, rounded down. Shares of growing parts add up to the whole. */
export function shareOf(whole: number, part: number, of: number): number {
  if (of === 0) return 0;
  return Number((BigInt(whole) * BigInt(part)) / BigInt(of));
}
