import type { Ctx, Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { tooManyRequests } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { addHits, CounterSync, type HitBucket, windowMs } from "./counter-sync.ts";
import { hideSubject } from "./service.ts";

/** At most twice as many are counted, in about 20 MiB. In a flood of addresses, the least recently used are dropped. */
const minSubjects = 50_000;

/**
 * Counts a public write of the caller before its work; counts nothing outside a server. A server that writes for
 * visitors sends their addresses.
 * @returns a promise only after a pause or a start, when the counts of other processes are pulled first.
 * @throws tooManyRequests with `retryAfter`; then nothing is counted.
 */
export function countPublicWrite(ctx: Ctx, actorId: string | null): Promise<void> | undefined {
  if (!ctx.memory) return undefined;
  return ctx.memory.writes.count(ctx.tenant, ctx.client?.ip ?? "unknown", actorId);
}

/**
 * Creates the limiter of one process. It decides by counts in memory, and syncs them with other processes twice a
 * second under keyed hashes. All processes together exceed a limit by no more than the writes of the last second.
 * Without the database or its key, each process limits by its own counts.
 */
export function createWriteLimiter(deps: {
  db: Database;
  vault: Vault;
  now: () => number;
  notice: (message: string) => void;
}) {
  const { vault, now } = deps;
  const counts = new LruCache<HitBucket[]>(minSubjects);
  const isShared = hideSubject(vault, "") !== null;
  const sync = new CounterSync({ ...deps, onPulled: (subject, bucket) => addHits(counts, subject, bucket) });

  /** Returns the stored form of a subject, which is the same in every process with the server's key. */
  function subjectOf(tenant: Tenant, name: string): string {
    const text = `${tenant.id} ${addressGroup(name)}`;
    return hideSubject(vault, `write ${text}`) ?? text;
  }

  function check(tenant: Tenant, address: string | null, actor: string | null): void {
    const at = now();
    const limits = [
      { name: address, max: tenant.addressWrites, of: "from this address" },
      { name: actor, max: tenant.visitorWrites, of: actor?.startsWith("usr_") ? "by this user" : "by this visitor" },
    ].flatMap(({ name, max, of }) => {
      if (name === null || max <= 0) return [];
      const subject = subjectOf(tenant, name);
      return [{ subject, waitMs: waitOf(counts.get(subject), max, at), of }];
    });
    const [longest] = limits.toSorted((one, other) => other.waitMs - one.waitMs);
    if (longest && longest.waitMs > 0) {
      const retryAfter = Math.ceil(longest.waitMs / 1000);
      throw tooManyRequests(`Too many writes ${longest.of}.`, { retryAfter });
    }
    for (const { subject } of limits) {
      addHits(counts, subject, { at, hits: 1 });
      if (isShared) sync.add(subject, at);
    }
  }

  return {
    /** Counts one write as `countPublicWrite` does. Null means that address or actor is not limited. */
    count(tenant: Tenant, address: string | null, actor: string | null): Promise<void> | undefined {
      // During a pause or before the start, other processes may have admitted whole limits.
      if (isShared && !sync.isCurrent) return sync.catchUp().then(() => check(tenant, address, actor));
      check(tenant, address, actor);
      return undefined;
    },
    /** Pushes the counts of this process and pulls those of others. Errors: those of the database. */
    sync: () => sync.sync(),
    stop: () => sync.stop(),
  };
}

/**
 * Returns the milliseconds until a subject has fewer than `max` hits within a minute, 0 if it has now; removes expired
 * buckets. A hit counts for a minute, and up to a second longer if others followed within its second, so that no minute
 * has more hits than allowed. A hit more than a minute in the future is from before the clock was set back, and does
 * not count.
 */
export function waitOf(buckets: HitBucket[] | undefined, max: number, now: number): number {
  if (!buckets) return 0;
  const isCounted = ({ at }: HitBucket) => at > now - windowMs && at <= now + windowMs;
  if (!buckets.every(isCounted)) buckets.splice(0, buckets.length, ...buckets.filter(isCounted));
  let count = buckets.reduce((sum, { hits }) => sum + hits, 0);
  if (count < max) return 0;
  for (const { at, hits } of buckets.sort((one, other) => one.at - other.at)) {
    count -= hits;
    if (count < max) return at + windowMs - now;
  }
  return 0;
}
