import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Ctx, Tenant } from "../../context.ts";
import type { Database, Executor } from "../../db/session.ts";
import { bind, param, rowsOf, run, statement } from "../../db/statement.ts";
import { tooManyRequests } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { hideSubject } from "./service.ts";
import { publicHits } from "./table.ts";

const windowMs = 60_000;
/** The memory has room for at least this many subjects, in about 20 MiB. Those used least recently are dropped. */
const minSubjects = 50_000;
/** How often a process writes its hits to the database and reads others' hits, so that it sees them within a second. */
const intervalMs = 500;
/** Maximum hits per database row, so that rows stay small. Further hits are counted by this process only. */
const maxUnsent = 5000;
/** Rows are kept for twice the window, for machines whose clocks differ. */
const keptMs = 2 * windowMs;

const push = statement(sql`
  insert into ${publicHits} (process, written_at, hits)
  values (${param("process")}, ${param("now")}, ${param("hits")})`);
const pull = statement<{ id: number; hits: string }>(sql`
  select id, hits from ${publicHits} where id > ${param("pulled")} and process <> ${param("process")} order by id`);
const removeOld = statement(sql`delete from ${publicHits} where written_at <= ${param("before")}`);

export function purgePublicHits(ctx: { db: Executor; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: ctx.now() - keptMs });
}

/**
 * Counts a public write of the caller before the service does it. Counts nothing outside a server. Errors:
 * tooManyRequests with `retryAfter`; such a write is not counted.
 */
export function countPublicWrite(ctx: Ctx, actorId: string | null): void {
  ctx.memory?.writes.count(ctx.tenant, ctx.client?.ip ?? "unknown", actorId);
}

/** Hits of one second. All of them count until the latest hit, at the time `at`, expires. */
export interface HitBucket {
  at: number;
  hits: number;
}

const secondOf = (at: number) => Math.floor(at / 1000);

/** Counts a hit of a subject. Hits of one second share a bucket, so that a subject has about sixty at most. */
export function addHit(counts: Pick<LruCache<HitBucket[]>, "get" | "set">, subject: string, at: number): void {
  const buckets = counts.get(subject) ?? [];
  const bucket = buckets.findLast((one) => secondOf(one.at) === secondOf(at));
  if (bucket) Object.assign(bucket, { at: Math.max(bucket.at, at), hits: bucket.hits + 1 });
  else if (buckets.push({ at, hits: 1 }) === 1) counts.set(subject, buckets);
}

/**
 * Returns the milliseconds until a subject has fewer than `max` hits within a minute; 0 if it has fewer now. Removes
 * expired buckets. A bucket expires a minute after its latest hit. So its earlier hits count up to a second longer, and
 * no minute has more hits than allowed. A hit more than a minute in the future does not count: its time was read before
 * the clock was set back.
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

interface LimiterDeps {
  db: Database;
  vault: Vault;
  now: () => number;
  notice: (message: string) => void;
}

/**
 * The limiter of one process. It decides by counts in memory. Twice a second, it exchanges them with other processes,
 * as hashes of subjects. All processes together exceed a limit by no more than the writes of the last second. Without
 * the database, each process limits by its own counts.
 */
export class WriteLimiter {
  readonly #deps: LimiterDeps;
  readonly #counts = new LruCache<HitBucket[]>(minSubjects);
  readonly #process = randomBytes(9).toString("base64url");
  #unsent: [subject: string, at: number][] = [];
  #pulled = 0;
  #syncing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isFailing = false;

  constructor(deps: LimiterDeps) {
    this.#deps = deps;
  }

  /** Counts one write, as `countPublicWrite` does. An `address` or `actor` of null has no limit. */
  count(tenant: Tenant, address: string | null, actor: string | null): void {
    const { now, vault } = this.#deps;
    const at = now();
    const limits = [
      { name: address, max: tenant.addressWrites, of: "from this address" },
      { name: actor, max: tenant.visitorWrites, of: actor?.startsWith("usr_") ? "by this user" : "by this visitor" },
    ].flatMap(({ name, max, of }) => {
      if (name === null || max <= 0) return [];
      const subject = hideSubject(vault, `write ${tenant.id} ${addressGroup(name)}`);
      return [{ subject, waitMs: waitOf(this.#counts.get(subject), max, at), of }];
    });
    const [longest] = limits.toSorted((one, other) => other.waitMs - one.waitMs);
    if (longest && longest.waitMs > 0) {
      const retryAfter = Math.ceil(longest.waitMs / 1000);
      throw tooManyRequests(`Too many writes ${longest.of}.`, { retryAfter });
    }
    for (const { subject } of limits) {
      addHit(this.#counts, subject, at);
      if (this.#unsent.length < maxUnsent) this.#unsent.push([subject, at]);
      this.#timer ??= setTimeout(() => this.#catchUp(), intervalMs).unref();
    }
  }

  /** Runs `sync`. If it fails, the error is reported to `notice`, not thrown, and the sync is retried. */
  async #catchUp(): Promise<void> {
    await this.sync().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      if (!this.#isFailing) this.#deps.notice(`processes cannot share their rate limits for now: ${why}`);
      this.#isFailing = true;
    });
    clearTimeout(this.#timer);
    this.#timer = this.#unsent.length > 0 ? setTimeout(() => this.#catchUp(), intervalMs).unref() : undefined;
  }

  /**
   * Pushes the hits of this process and pulls those of others. Calls at the same time share the work. Errors: those of
   * the database; unpushed hits wait for the next sync.
   */
  sync(): Promise<void> {
    this.#syncing ??= this.#syncOnce().finally(() => (this.#syncing = undefined));
    return this.#syncing;
  }

  /** Writes the last hits to the database and stops. Hits that cannot be written are lost. */
  async stop(): Promise<void> {
    await this.#syncing?.catch(() => {});
    if (this.#unsent.length > 0) await this.sync().catch(() => {});
    clearTimeout(this.#timer);
  }

  async #syncOnce(): Promise<void> {
    const { db, now } = this.#deps;
    const unsent = this.#unsent;
    this.#unsent = [];
    const values = { process: this.#process, pulled: this.#pulled, now: now(), hits: JSON.stringify(unsent) };
    const pushing = unsent.length === 0 ? [] : [bind(push, values)];
    try {
      const results = await db.batch([...pushing, bind(pull, values)], pushing.length > 0 ? "write" : "read");
      for (const { id, hits } of rowsOf(pull, results.at(-1))) {
        this.#pulled = id;
        const pulled: typeof unsent = JSON.parse(hits);
        // The clock of another machine may be ahead, so times in the future count as now.
        for (const [subject, at] of pulled) addHit(this.#counts, subject, Math.min(at, now()));
      }
      this.#isFailing = false;
    } catch (error) {
      const recent = unsent.filter(([, at]) => at > now() - windowMs);
      this.#unsent = [...recent, ...this.#unsent].slice(0, maxUnsent);
      throw error;
    }
  }
}
