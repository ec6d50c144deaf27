import { LruCache } from "../../values/lru-cache.ts";

/** The window in which public writes are counted: a minute. */
export const windowMs = 60_000;

/** Hits of one second, which all count until the latest of them expires. */
export interface HitBucket {
  /** Epoch milliseconds of the latest. */
  at: number;
  hits: number;
}

/**
 * Creates empty counts of the hits of a minute by subject, in memory: a window that slides by the second. A hit counts
 * for a minute, and up to a second longer if others followed within its second, so that no minute ever has more hits
 * than a limit allows. Between `minKept` and twice as many subjects are kept.
 */
export function createWriteCounts(minKept: number) {
  const subjects = new LruCache<HitBucket[]>(minKept);
  return {
    /** Counts hits of a subject, also when later hits are counted already. */
    add(subject: string, at: number, hits: number): void {
      const buckets = subjects.get(subject);
      if (buckets) addHits(buckets, at, hits);
      else subjects.set(subject, [{ at, hits }]);
    },
    /** Milliseconds until a subject has fewer than `most` hits within a minute, 0 when it has now. Counts nothing. */
    waitMs(subject: string, most: number, now: number): number {
      const buckets = subjects.get(subject);
      if (!buckets) return 0;
      const gone = buckets.findIndex(({ at }) => at + windowMs > now);
      if (gone !== 0) buckets.splice(0, gone < 0 ? buckets.length : gone);
      let left = buckets.reduce((sum, { hits }) => sum + hits, 0);
      let freeAt = now;
      for (const { at, hits } of buckets) {
        if (left < most) break;
        left -= hits;
        freeAt = at + windowMs;
      }
      return freeAt - now;
    },
    clear: () => subjects.clear(),
  };
}

/** Adds hits to buckets that are in the order of their seconds. */
export function addHits(buckets: HitBucket[], at: number, hits: number): void {
  const second = secondOf(at);
  const place = buckets.findLastIndex((bucket) => secondOf(bucket.at) <= second);
  const bucket = buckets[place];
  if (bucket !== undefined && secondOf(bucket.at) === second) {
    bucket.hits += hits;
    bucket.at = Math.max(bucket.at, at);
  } else {
    buckets.splice(place + 1, 0, { at, hits });
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
