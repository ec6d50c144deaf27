import { sql } from "drizzle-orm";
import type { Session } from "../../db/session.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { rateLimits } from "./table.ts";

/** How many hits a subject may have in any stretch of `windowMs` milliseconds. */
export interface RateLimit {
  name: string;
  most: number;
  windowMs: number;
}

/** Authentication attempts per address (specification, section 8). */
export const authAttempts: RateLimit = { name: "auth", most: 10, windowMs: 60_000 };

// A hit in the future was counted by a machine whose clock is ahead, and counts. One that is further ahead than the window
// was counted before a clock was set back, and does not.
const inWindow = sql`(value > ${param("now")} - ${param("windowMs")}
  and value <= ${param("now")} + ${param("windowMs")})`;
// Checked and counted in one statement, so that no two processes can both take the last free place.
const takePlace = statement<{ taken: number }>(sql`
  insert into ${rateLimits} (key, hits, expires_at)
  values (${param("key")}, json_array(${param("now")}), ${param("now")} + ${param("windowMs")})
  on conflict (key) do update set
    hits = (select json_group_array(value) from (
      select value from json_each(rate_limits.hits) where ${inWindow} union all select ${param("now")})),
    expires_at = max(expires_at, excluded.expires_at)
  where (select count(*) from json_each(rate_limits.hits) where ${inWindow}) < ${param("most")}
  returning 1 as taken`);
const selectOldest = statement<{ oldest: number | null }>(sql`
  select min(hit.value) as oldest from ${rateLimits} l, json_each(l.hits) hit
  where l.key = ${param("key")} and ${inWindow}`);
const selectTaken = statement<{ taken: number; oldest: number | null }>(sql`
  select count(*) as taken, min(hit.value) as oldest from ${rateLimits} l, json_each(l.hits) hit
  where l.key = ${param("key")} and ${inWindow}`);
const removeKey = statement(sql`delete from ${rateLimits} where key = ${param("key")}`);
const removeExpired = statement(sql`delete from ${rateLimits} where key in (
  select key from ${rateLimits} where expires_at <= ${param("now")} limit 1000)`);

interface LimitContext {
  db: Session;
  now: () => number;
}

/**
 * Counts one hit of a subject in a sliding window, unless its places are taken: then nothing is written.
 * @returns 0 when it was counted, else the milliseconds until the next place is free.
 */
export async function countHit(ctx: LimitContext, limit: RateLimit, subject: string): Promise<number> {
  const key = `${limit.name}:${subject}`;
  const now = ctx.now();
  const { windowMs, most } = limit;
  if (await get(ctx.db, takePlace, { key, now, windowMs, most })) return 0;
  const row = await get(ctx.db, selectOldest, { key, now, windowMs });
  return Math.max(1, (row?.oldest ?? now) + windowMs - now);
}

/** Milliseconds until a subject's next place is free, 0 when one is. Counts nothing. */
export async function peekLimit(ctx: LimitContext, limit: RateLimit, subject: string): Promise<number> {
  const { windowMs, most } = limit;
  const now = ctx.now();
  const row = await get(ctx.db, selectTaken, { key: `${limit.name}:${subject}`, now, windowMs });
  if (!row || row.taken < most) return 0;
  return Math.max(1, (row.oldest ?? now) + windowMs - now);
}

/** Forgets all hits of a subject. */
export async function clearLimit(ctx: LimitContext, limit: RateLimit, subject: string): Promise<void> {
  await run(ctx.db, removeKey, { key: `${limit.name}:${subject}` });
}

/** Removes rows whose window has passed, at most a thousand a call. Returns how many. */
export function purgeRateLimits(ctx: LimitContext): Promise<number> {
  return run(ctx.db, removeExpired, { now: ctx.now() });
}
