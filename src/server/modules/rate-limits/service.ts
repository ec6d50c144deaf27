import { type SQL, sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { bind, get, param, run, statement } from "../../db/statement.ts";
import { tooManyRequests } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { tenants } from "../tenants/table.ts";
import { rateLimits } from "./table.ts";

export interface RateLimit {
  name: string;
  max: number;
  windowMs: number;
}

/** Authentication attempts per IP address (specification, section 8). */
export const authAttempts: RateLimit = { name: "auth", max: 10, windowMs: 60_000 };

// A hit in the future is from a machine whose clock is ahead, and counts. A hit more than a window ahead is from before
// a clock was set back, and does not count.
const inWindow = sql`(value > ${param("now")} - ${param("windowMs")}
  and value <= ${param("now")} + ${param("windowMs")})`;
// One statement checks and counts, so that two processes cannot both use the last allowed hit.
const addHit = statement(sql`
  insert into ${rateLimits} (key, hits, expires_at)
  select ${param("key")}, json_array(${param("now")}), ${param("now")} + ${param("windowMs")}
  where ${param("namespace")} is null
    or exists (select 1 from ${tenants} where namespace = ${param("namespace")} and status = 'active')
  on conflict (key) do update set
    hits = (select json_group_array(value) from (
      select value from json_each(rate_limits.hits) where ${inWindow} union all select ${param("now")})),
    expires_at = max(expires_at, excluded.expires_at)
  where (select count(*) from json_each(rate_limits.hits) where ${inWindow}) < ${param("max")}
  returning 1 as added`);
const selectHits = statement<{ hits: number; oldest: number | null }>(sql`
  select count(*) as hits, min(hit.value) as oldest from ${rateLimits} l, json_each(l.hits) hit
  where l.key = ${param("key")} and ${inWindow}`);
const removeKey = statement(sql`delete from ${rateLimits} where key = ${param("key")}`);
const removeExpired = statement(sql`delete from ${rateLimits} where key in (
  select key from ${rateLimits} where expires_at <= ${param("now")} limit 1000)`);

/**
 * Counts one hit of a subject in a sliding window. At the limit, nothing is written. Returns 0 if the hit was counted,
 * otherwise the milliseconds until the next hit is allowed.
 * @param namespace of a store. If the store is not active, nothing is counted.
 */
export async function countHit(ctx: WorkCtx, limit: RateLimit, subject: string, namespace: string | null = null) {
  const values = { ...limitValues(ctx, limit, subject), namespace };
  return (await get(ctx.db, addHit, values)) ? 0 : checkLimit(ctx, limit, subject);
}

export function bindLimit(ctx: WorkCtx, limit: RateLimit, subject: string) {
  const values = limitValues(ctx, limit, subject);
  return { hit: bind(addHit, values), clear: bind(removeKey, values) };
}

function limitValues({ now }: Pick<WorkCtx, "now">, { name, windowMs, max }: RateLimit, subject: string) {
  return { key: `${name}:${subject}`, now: now(), windowMs, max, namespace: null };
}

/** Counts one hit of a subject, as `countHit` does. Errors: tooManyRequests with `message` at the limit. */
export async function consumeLimit(ctx: WorkCtx, limit: RateLimit, subject: string, message: string): Promise<void> {
  const waitMs = await countHit(ctx, limit, subject);
  if (waitMs > 0) throw tooManyRequests(message, { retryAfter: Math.ceil(waitMs / 1000) });
}

/** Returns the milliseconds until the next hit of a subject is allowed; 0 if it is allowed now. Counts nothing. */
export async function checkLimit(ctx: WorkCtx, limit: RateLimit, subject: string): Promise<number> {
  const values = limitValues(ctx, limit, subject);
  const row = await get(ctx.db, selectHits, values);
  if (!row || row.hits < limit.max) return 0;
  return Math.max(1, (row.oldest ?? values.now) + limit.windowMs - values.now);
}

/** SQL for whether any subject has hits of the limit. If none has, callers skip the slow computation of a subject. */
export function hasHits({ name }: RateLimit): SQL<number> {
  return sql`exists (select 1 from ${rateLimits} where key between ${`${name}:`} and ${`${name};`})`;
}

export function purgeRateLimits(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeExpired, { now: ctx.now() });
}

const shownDigits = 32;

/** Returns the stored form of a subject: a keyed hash, because the database must not contain IP addresses. */
export function hideSubject(vault: Vault, text: string): string {
  return vault.mac("limit", text).slice(0, shownDigits);
}

/**
 * Returns the subject under which calls from an IP address are counted.
 * @param address of the caller; null if unknown. All callers with unknown addresses share one subject.
 * @param scope such as a store: each scope has counts of its own.
 */
export function addressSubject(vault: Vault, address: string | null | undefined, scope = ""): string {
  return hideSubject(vault, `address ${scope} ${addressGroup(address ?? "unknown")}`);
}

/** Returns the subject under which calls from the caller's IP address are counted in the store. */
export function callerSubject({ vault, client, tenant }: Ctx): string {
  return addressSubject(vault, client?.ip, tenant.id);
}
