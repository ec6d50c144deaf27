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
 * Measures A B A B …, several figures at a time. The figures are medians; the ratio is the median of the ratios pair by
 * pair, so that a slow minute of the machine affects both sides.
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

/** As `compareFigures`, for one figure. */
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

/** Two figures that were taken once. */
export function compareOnce(ours: number, bare: number): Comparison {
  return { ours, bare, ratio: ours / bare };
}

/** A figure that has no other side. */
export function figureAlone(ours: number): Comparison {
  return compareOnce(ours, Number.NaN);
}

/** The middle one of an odd number of values. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
