import type { LatencyHistogram } from "../../../server/monitoring/server-status.ts";

/**
 * The time within which a share of the answers was given, in milliseconds: taken from within the bucket it falls into,
 * as if answers lay evenly there. Above the last bound, that bound. Null where nothing was answered.
 * @param share such as 0.95.
 */
export function percentileOf({ bounds_ms, counts }: LatencyHistogram, share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let before = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && before + count >= share * total) {
      const low = index === 0 ? 0 : (bounds_ms[index - 1] as number);
      const high = bounds_ms[index] ?? low;
      return low + ((high - low) * Math.max(0, share * total - before)) / count;
    }
    before += count;
  }
  return bounds_ms.at(-1) ?? null;
}

/** What was answered between two looks at the same histogram. */
export function subtractLatency(after: LatencyHistogram, before: LatencyHistogram | undefined): LatencyHistogram {
  if (before === undefined) return after;
  return {
    bounds_ms: after.bounds_ms,
    counts: after.counts.map((count, index) => count - (before.counts[index] ?? 0)),
    sum_ms: after.sum_ms - before.sum_ms,
  };
}
