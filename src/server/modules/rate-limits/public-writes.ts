import type { Ctx, Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { tooManyRequests } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { CounterSync } from "./counter-sync.ts";
import { hideSubject } from "./service.ts";
import { createWriteCounts, windowMs } from "./write-counts.ts";

/** At most twice as many are counted, in about 20 MiB. In a flood of addresses, the least recently seen are dropped. */
const leastSubjects = 50_000;
/** Subjects whose hash is cached, because hashing takes microseconds. */
const leastHashes = 10_000;

export type WriteLimiter = ReturnType<typeof createWriteLimiter>;

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

/** One limit that a write counts towards; error messages name its owner by `of`. */
interface Limit {
  subject: string;
  most: number;
  of: string;
}

/**
 * Counts a public write of the caller, before its work; outside of a server nothing. A server that writes for many
 * visitors names their addresses.
 * @returns a promise only after a pause or a start, when the counts of other processes are pulled first.
 * @throws tooManyRequests with `retryAfter`; nothing is counted then.
 */
export function countPublicWrite(ctx: Ctx, actorId: string | null): Promise<void> | undefined {
  if (!ctx.memory) return undefined;
  return ctx.memory.writes.count(ctx.tenant, ctx.client?.ip ?? "unknown", actorId);
}

/**
 * Creates the limiter of one process. It decides by its counts in memory and syncs them with other processes twice a
 * second under keyed hashes: all processes together exceed a limit by no more than the writes of the last second.
 * Without the database or its key, each process limits by its own counts.
 */
export function createWriteLimiter({ db, vault, now, notice }: LimiterDeps) {
  const counts = createWriteCounts(leastSubjects);
  const subjects = new LruCache<string>(leastHashes);
  const sync = new CounterSync({ db, now: present, onPulled: counts.add, notice });
  let latest = 0;
  let hasKey = false;

  /** The current time. Drops all counts when the clock was set back by more than the window. */
  function present(): number {
    const at = now();
    if (at < latest - windowMs) {
      counts.clear();
      sync.clear();
      latest = at;
    }
    latest = Math.max(latest, at);
    return at;
  }

  /** The name under which a caller is counted: the same in every process with the server's key. */
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

  function check(limits: readonly Limit[]): void {
    const at = present();
    let longest = { waitMs: 0, of: "" };
    for (const { subject, most, of } of limits) {
      const waitMs = counts.waitMs(subject, most, at);
      if (waitMs > longest.waitMs) longest = { waitMs, of };
    }
    if (hasKey) sync.keepGoing();
    if (longest.waitMs > 0) {
      const retryAfter = Math.ceil(longest.waitMs / 1000);
      throw tooManyRequests(`Too many writes ${longest.of}.`, { retryAfter });
    }
    for (const { subject } of limits) {
      counts.add(subject, at, 1);
      if (hasKey) sync.add(subject, at);
    }
  }

  return {
    /** Counts one write as `countPublicWrite` does; address or actor is null if it is not limited. */
    count(tenant: Tenant, address: string | null, actor: string | null): Promise<void> | undefined {
      const limits = limitsOf(tenant, address, actor);
      if (limits.length === 0) return undefined;
      // Other processes may have admitted whole limits during a pause or before the start.
      if (hasKey && !sync.isCurrent) return sync.catchUp().then(() => check(limits));
      check(limits);
      return undefined;
    },
    /** Pushes the counts of this process and pulls those of others. Errors: those of the database. */
    sync: () => sync.sync(),
    stop: () => sync.stop(),
  };
}
