/** A figure that was measured for Bodega and for the bare server. */
export interface Comparison {
  ours: number;
  bare: number;
  /** Bodega's figure divided by the bare one. */
  ratio: number;
  /** The lowest and the highest ratio of a pair, if several pairs were measured. */
  spread?: [number, number];
}

/**
 * Measures several figures of both sides, in turn, so that a slow minute of the machine affects both. The result has
 * the medians of the figures, and the median of the ratios of pairs.
 */
export async function compareFigures<Name extends string>(
  rounds: number,
  measureOurs: (round: number) => Promise<Record<Name, number>>,
  measureBare: (round: number) => Promise<Record<Name, number>>,
): Promise<Record<Name, Comparison>> {
  const pairs: [ours: Record<Name, number>, bare: Record<Name, number>][] = [];
  for (let round = 0; round < rounds; round++) pairs.push([await measureOurs(round), await measureBare(round)]);
  const names = Object.keys(pairs[0]?.[0] ?? {}) as Name[];
  const compared = names.map((name) => [name, summarize(pairs.map(([ours, bare]) => [ours[name], bare[name]]))]);
  return Object.fromEntries(compared) as Record<Name, Comparison>;
}

/** Calls `compareFigures` for one figure. */
export async function comparePairs(
  rounds: number,
  measureOurs: (round: number) => number | Promise<number>,
  measureBare: (round: number) => number | Promise<number>,
): Promise<Comparison> {
  const { figure } = await compareFigures(
    rounds,
    async (round) => ({ figure: await measureOurs(round) }),
    async (round) => ({ figure: await measureBare(round) }),
  );
  return figure;
}

function summarize(pairs: readonly (readonly [ours: number, bare: number])[]): Comparison {
  const ratios = pairs.map(([ours, bare]) => ours / bare);
  return {
    ours: median(pairs.map(([ours]) => ours)),
    bare: median(pairs.map(([, bare]) => bare)),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

/** Compares two figures that were measured once. */
export function compareOnce(ours: number, bare: number): Comparison {
  return { ours, bare, ratio: ours / bare };
}

/** Returns a figure that exists only for Bodega. */
export function figureAlone(ours: number): Comparison {
  return compareOnce(ours, Number.NaN);
}

/** Returns the median of an odd number of values. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Returns the value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
