import { timingSafeEqual } from "node:crypto";
import { and, eq, isNull, lte, or } from "drizzle-orm";
import { params } from "../../db/conditions.ts";
import type { Database } from "../../db/session.ts";
import { param, run, statement } from "../../db/statement.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { appKeySecrets } from "./table.ts";

/** It takes the same time for all hashes of equal length. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const everyMs = 60_000;

// The condition limits all processes together to one write a minute.
const { id, lastUsedAt } = appKeySecrets;
const isDue = and(eq(id, param("id")), or(isNull(lastUsedAt), lte(lastUsedAt, param("before"))));
const touchSecret = statement((q) => q.update(appKeySecrets).set(params("lastUsedAt")).where(isDue));

/** Uses are recorded outside the request, at most once a minute; after a failure, the next one is. */
export function createUsageRecorder(db: Database): (secret: { id: string; lastUsedAt: number }, now: number) => void {
  const noted = new LruCache<number>(5000);
  return (secret, now) => {
    const last = noted.get(secret.id) ?? secret.lastUsedAt;
    if (now - last < everyMs) return;
    noted.set(secret.id, now);
    const times = { lastUsedAt: toTimestamp(now), before: toTimestamp(now - everyMs) };
    run(db, touchSecret, { id: secret.id, ...times }).catch(() => noted.delete(secret.id));
  };
}
