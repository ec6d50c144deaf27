import type { LruCache } from "../../values/lru-cache.ts";

export const windowMs = 60_000;

/** Hits of one second, which all count until the latest of them expires. */
export interface HitBucket {
  /** Epoch milliseconds of the latest. */
  at: number;
  hits: number;
}

/** Counts by subject. */
export type WriteCounts = Map<string, HitBucket[]> | LruCache<HitBucket[]>;

/** Counts hits of a subject. Those of one second share a bucket, so that a subject has about sixty at most. */
export function addHits(counts: WriteCounts, subject: string, at: number, hits: number): void {
  const buckets = counts.get(subject);
  const bucket = buckets?.findLast((one) => Math.floor(one.at / 1000) === Math.floor(at / 1000));
  if (bucket !== undefined) {
    bucket.hits += hits;
    bucket.at = Math.max(bucket.at, at);
  } else if (buckets) buckets.push({ at, hits });
  else counts.set(subject, [{ at, hits }]);
}

/**
 * Milliseconds until a subject has fewer than `max` hits within a minute, 0 when it has now. A hit counts for a minute,
 * and up to a second longer if others followed within its second, so that no minute ever has more hits than allowed. One
 * further ahead than a minute comes from before the clock was set back, and does not count.
 */
export function waitOf(counts: WriteCounts, subject: string, max: number, now: number): number {
  const buckets = counts.get(subject);
  if (!buckets) return 0;
  const isCounted = ({ at }: HitBucket) => at > now - windowMs && at <= now + windowMs;
  if (!buckets.every(isCounted)) buckets.splice(0, buckets.length, ...buckets.filter(isCounted));
  let left = buckets.reduce((sum, { hits }) => sum + hits, 0);
  if (left < max) return 0;
  for (const { at, hits } of buckets.sort((one, other) => one.at - other.at)) {
    left -= hits;
    if (left < max) return at + windowMs - now;
  }
  return 0;
}
