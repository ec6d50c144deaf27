import type { Ctx, Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { tooManyRequests } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { CounterSync } from "./counter-sync.ts";
import { hideSubject } from "./service.ts";
import { addHits, type HitBucket, waitOf } from "./write-counts.ts";

/** At most twice as many are counted, in about 20 MiB. In a flood of addresses, the least recently seen are dropped. */
const minSubjects = 50_000;
/** Subjects whose hash is cached, because hashing takes microseconds. */
const minHashes = 10_000;

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
  max: number;
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
  const counts = new LruCache<HitBucket[]>(minSubjects);
  const subjects = new LruCache<string>(minHashes);
  const isShared = hideSubject(vault, "") !== null;
  const sync = new CounterSync({ db, now, onPulled: (...hits) => addHits(counts, ...hits), notice });

  /** The limit of an address or actor: its subject is the same in every process with the server's key. */
  function limitOf(tenant: Tenant, name: string, max: number, of: string): Limit {
    const subject = subjects.getOrMake(`${tenant.id} ${name}`, () => {
      const text = `${tenant.id} ${addressGroup(name)}`;
      return hideSubject(vault, `write ${text}`) ?? text;
    });
    return { subject, max, of };
  }

  function limitsOf(tenant: Tenant, address: string | null, actor: string | null): Limit[] {
    const { addressWrites, visitorWrites } = tenant;
    const limits: Limit[] = [];
    if (address !== null && addressWrites > 0) {
      limits.push(limitOf(tenant, address, addressWrites, "from this address"));
    }
    if (actor !== null && visitorWrites > 0) {
      const of = actor.startsWith("usr_") ? "by this user" : "by this visitor";
      limits.push(limitOf(tenant, actor, visitorWrites, of));
    }
    return limits;
  }

  function check(limits: readonly Limit[]): void {
    const at = now();
    let longest = { waitMs: 0, of: "" };
    for (const { subject, max, of } of limits) {
      const waitMs = waitOf(counts, subject, max, at);
      if (waitMs > longest.waitMs) longest = { waitMs, of };
    }
    if (longest.waitMs > 0) {
      const retryAfter = Math.ceil(longest.waitMs / 1000);
      throw tooManyRequests(`Too many writes ${longest.of}.`, { retryAfter });
    }
    for (const { subject } of limits) {
      addHits(counts, subject, at, 1);
      if (isShared) sync.add(subject, at);
    }
  }

  return {
    /** Counts one write as `countPublicWrite` does; address or actor is null if it is not limited. */
    count(tenant: Tenant, address: string | null, actor: string | null): Promise<void> | undefined {
      const limits = limitsOf(tenant, address, actor);
      if (limits.length === 0) return undefined;
      // Other processes may have admitted whole limits during a pause or before the start.
      if (isShared && !sync.isCurrent) return sync.catchUp().then(() => check(limits));
      check(limits);
      return undefined;
    },
    /** Pushes the counts of this process and pulls those of others. Errors: those of the database. */
    sync: () => sync.sync(),
    stop: () => sync.stop(),
  };
}
