import type { Ctx, Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { tooManyRequests } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { hideSubject } from "./address-subject.ts";
import { createHitExchange } from "./hit-exchange.ts";
import { createWriteCounts, windowMs } from "./write-counts.ts";

/** Twice as many are counted at most, in some 20 MB: in a storm of addresses, who came least lately is forgotten. */
const leastSubjects = 50_000;
/** Subjects whose hash is remembered, which takes microseconds otherwise. */
const leastHashes = 10_000;

/** Counts public writes of an address and of whom they are by, within this process first. */
export interface WriteLimiter {
  /**
   * Counts one.
   * @param address of the caller, null where it does not count.
   * @param actor id of the visitor or user, null where there is neither.
   * @returns a promise only after a pause or a start, when others have to be heard before it is judged.
   * @throws tooManyRequests with `retryAfter`, and nothing is counted.
   */
  count(tenant: Tenant, address: string | null, actor: string | null): Promise<void> | undefined;
  /** Tells other processes what was counted here, and hears what was there. Errors: those of the database. */
  share(): Promise<void>;
  stop(): Promise<void>;
}

declare module "../../context.ts" {
  interface ProcessMemory {
    writes: WriteLimiter;
  }
}

interface LimiterDeps {
  db: Database;
  vault: Vault;
  now: () => number;
  notice: (message: string) => void;
}

/** One limit that a write counts towards; `of` says whose, for people. */
interface Limit {
  subject: string;
  most: number;
  of: string;
}

/**
 * Counts a public write of the caller, before its work. Whoever holds a key of the store may write for many visitors
 * from one address; outside of a server nothing is counted.
 * @param actorId of the visitor or user, null where there is neither.
 * @returns a promise only after a pause or a start, when others have to be heard before it is judged.
 * @throws tooManyRequests with `retryAfter`; nothing is counted then.
 */
export function countPublicWrite(ctx: Ctx, actorId: string | null): Promise<void> | undefined {
  if (!ctx.memory) return undefined;
  const address = ctx.actor.kind === "app" ? null : (ctx.clientIp ?? "unknown");
  return ctx.memory.writes.count(ctx.tenant, address, actorId);
}

/**
 * Makes the limiter of one process. It judges by what it has in memory, and tells the other
 * processes of the database twice a second what it has counted, under keyed hashes: what all let through together exceeds
 * a limit by no more than what came within the last second. Without the database or its key, each judges by itself.
 */
export function createWriteLimiter({ db, vault, now, notice }: LimiterDeps): WriteLimiter {
  const counts = createWriteCounts(leastSubjects);
  const subjects = new LruCache<string>(leastHashes);
  const others = createHitExchange({ db, present, onHeard: counts.add, notice });
  let latest = 0;
  let hasKey = false;

  /** The time. All is forgotten when a clock was set back by more than what is counted could last. */
  function present(): number {
    const at = now();
    if (at < latest - windowMs) {
      counts.clear();
      others.clear();
      latest = at;
    }
    latest = Math.max(latest, at);
    return at;
  }

  /** What something is counted under: the same in every process that has the server's key, and of no meaning elsewhere. */
  function subjectOf(tenant: Tenant, name: string, toGroup: (name: string) => string): string {
    const known = subjects.get(`${tenant.id} ${name}`);
    if (known !== undefined) return known;
    const whole = `${tenant.id} ${toGroup(name)}`;
    const hidden = hideSubject(vault, `write ${whole}`);
    hasKey = hidden !== null;
    const subject = hidden ?? whole;
    subjects.set(`${tenant.id} ${name}`, subject);
    return subject;
  }

  function limitsOf(tenant: Tenant, address: string | null, actor: string | null): Limit[] {
    const limits: Limit[] = [];
    if (address !== null && tenant.addressWrites > 0) {
      const subject = subjectOf(tenant, address, addressGroup);
      limits.push({ subject, most: tenant.addressWrites, of: "from this address" });
    }
    if (actor !== null && tenant.visitorWrites > 0) {
      const of = actor.startsWith("usr_") ? "by this user" : "by this visitor";
      limits.push({ subject: subjectOf(tenant, actor, (id) => id), most: tenant.visitorWrites, of });
    }
    return limits;
  }

  function judge(limits: readonly Limit[]): void {
    const at = present();
    let longest = { waitMs: 0, of: "" };
    for (const { subject, most, of } of limits) {
      const waitMs = counts.waitMs(subject, most, at);
      if (waitMs > longest.waitMs) longest = { waitMs, of };
    }
    if (hasKey) others.keepGoing();
    if (longest.waitMs > 0) {
      const retryAfter = Math.ceil(longest.waitMs / 1000);
      throw tooManyRequests(`Too many writes ${longest.of}.`, { retryAfter });
    }
    for (const { subject } of limits) {
      counts.add(subject, at, 1);
      if (hasKey) others.add(subject, at);
    }
  }

  return {
    count(tenant, address, actor) {
      const limits = limitsOf(tenant, address, actor);
      if (limits.length === 0) return undefined;
      // After a pause, or a start, others may have let through whole limits that were not heard of here.
      if (hasKey && !others.isCurrent()) return others.catchUp().then(() => judge(limits));
      judge(limits);
      return undefined;
    },
    share: () => others.exchange(),
    stop: () => others.stop(),
  };
}
