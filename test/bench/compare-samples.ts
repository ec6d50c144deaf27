import { percentile } from "./logins.ts";

/** The comparison of two samples of one figure. */
export interface SampleComparison {
  /** The median of the first minus the median of the second. */
  difference: number;
  /** The 95 % confidence interval of that difference. */
  interval: [number, number];
  /** The p-value of a Mann–Whitney test (two-sided, normal approximation). */
  p: number;
}

const resamplings = 2000;

/** Compares two samples of some hundred values each. */
export function compareSamples(one: readonly number[], other: readonly number[]): SampleComparison {
  const differences = Array.from({ length: resamplings }, () => median(resample(one)) - median(resample(other)));
  return {
    difference: median(one) - median(other),
    interval: [percentile(differences, 0.025), percentile(differences, 0.975)],
    p: 2 * normalTail(Math.abs(standardScore(one, other))),
  };
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function resample(values: readonly number[]): number[] {
  return values.map(() => values[Math.floor(Math.random() * values.length)] as number);
}

/** The difference of the rank sum from its expected value without a difference, in standard deviations. */
function standardScore(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((value) => ({ value, own: 1 })), ...other.map((value) => ({ value, own: 0 }))];
  all.sort((a, b) => a.value - b.value);
  // Times have so many digits that equal ones do not matter.
  const rankSum = all.reduce((sum, { own }, index) => sum + own * (index + 1), 0);
  const [n, m] = [one.length, other.length];
  return (rankSum - (n * (n + m + 1)) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
}

/** The probability of a standard normal value above this one (Abramowitz and Stegun 26.2.17, seven digits). */
function normalTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}
