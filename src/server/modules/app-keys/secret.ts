import { timingSafeEqual } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database } from "../../db/session.ts";
import { param, run, statement } from "../../db/statement.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { appKeySecrets } from "./table.ts";

/** Compares two hashes of equal length in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const everyMs = 60_000;

// The condition limits all processes together to one write a minute.
const touchSecret = statement(sql`
  update ${appKeySecrets} set last_used_at = ${param("now")}
  where id = ${param("id")} and (last_used_at is null or last_used_at <= ${param("before")})`);

/**
 * Creates the function that records the use of a secret, at most once a minute each and outside the request. A failure
 * only means that the next use is recorded instead.
 */
export function createUsageRecorder(db: Database): (secret: { id: string; lastUsedAt: number }, now: number) => void {
  const noted = new LruCache<number>(5000);
  return (secret, now) => {
    const last = noted.get(secret.id) ?? secret.lastUsedAt;
    if (now - last < everyMs) return;
    noted.set(secret.id, now);
    const times = { now: toTimestamp(now), before: toTimestamp(now - everyMs) };
    run(db, touchSecret, { id: secret.id, ...times }).catch(() => noted.delete(secret.id));
  };
}
