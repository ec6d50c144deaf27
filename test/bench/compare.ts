/** One figure of both sides. */
export interface Comparison {
  ours: number;
  bare: number;
  /** Our figure divided by the bare one. */
  ratio: number;
  /** Lowest and highest ratio of a pair, where several were measured. */
  spread?: [number, number];
}

/**
 * Measures A B A B … The figures are medians; the ratio is the median of the ratios pair by pair, so that a slow minute
 * of the machine affects both sides.
 */
export async function comparePairs(
  rounds: number,
  measureOurs: (round: number) => number | Promise<number>,
  measureBare: (round: number) => number | Promise<number>,
): Promise<Comparison> {
  const ours: number[] = [];
  const bare: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const left = await measureOurs(round);
    const right = await measureBare(round);
    ours.push(left);
    bare.push(right);
    ratios.push(left / right);
  }
  return {
    ours: median(ours),
    bare: median(bare),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

/** Two figures that were taken once. */
export function compareOnce(ours: number, bare: number): Comparison {
  return { ours, bare, ratio: ours / bare };
}

/** A figure that has no other side. */
export function figureAlone(ours: number): Comparison {
  return compareOnce(ours, Number.NaN);
}

/** The middle one of these values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
