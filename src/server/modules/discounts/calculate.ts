import { splitAmount } from "../../values/money.ts";
import { divideRounded } from "../taxes/calculate.ts";

/** The discount that a code gives on the goods: a share in thousandths of a percent, or an amount in minor units. */
export type Reduction = { percent: number } | { amount: number };

/**
 * Splits the reduction of a code over the lines of an order. The reduction is rounded once, on the sum of the eligible
 * lines, and never exceeds that sum.
 * @param subtotals of the lines, in minor units.
 * @param isEligible whether the code applies to each line.
 */
export function splitReduction(
  subtotals: readonly number[],
  isEligible: readonly boolean[],
  reduction: Reduction,
): number[] {
  const weights = subtotals.map((subtotal, index) => (isEligible[index] ? subtotal : 0));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum === 0) return weights;
  const wanted = "amount" in reduction ? reduction.amount : divideRounded(sum, reduction.percent, 100_000);
  return splitAmount(Math.min(wanted, sum), weights);
}
