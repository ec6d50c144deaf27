import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database, Executor } from "../../db/session.ts";
import { bind, param, rowsOf, run, statement } from "../../db/statement.ts";
import type { LruCache } from "../../values/lru-cache.ts";
import { publicHits } from "./table.ts";

export const windowMs = 60_000;

/** Hits of one second. All of them count until the latest expires. */
export interface HitBucket {
  at: number;
  hits: number;
}

/** Counts hits of a subject. Hits of one second share a bucket, so that a subject has about sixty at most. */
export function addHits(
  counts: Map<string, HitBucket[]> | LruCache<HitBucket[]>,
  subject: string,
  { at, hits }: HitBucket,
): void {
  const buckets = counts.get(subject) ?? [];
  const bucket = buckets.findLast((one) => Math.floor(one.at / 1000) === Math.floor(at / 1000));
  if (bucket) Object.assign(bucket, { at: Math.max(bucket.at, at), hits: bucket.hits + hits });
  else if (buckets.push({ at, hits }) === 1) counts.set(subject, buckets);
}

/** How often hits are pushed, and how old pulled hits may be for a decision. Others thus know hits within a second. */
const intervalMs = 500;
/** Maximum subjects in a row, so that rows stay small. Hits of further subjects are counted by this process only. */
const maxSubjects = 5000;
/** Rows are kept for twice the window, for machines whose clocks differ. */
const keptMs = 2 * windowMs;

const push = statement(sql`
  insert into ${publicHits} (process, written_at, hits)
  values (${param("process")}, ${param("now")}, ${param("hits")})`);
/** `hits` is JSON: `{"<subject>": [{"at", "hits"}, …]}`. */
const pull = statement<{ id: number; hits: string }>(sql`
  select id, hits from ${publicHits} where id > ${param("pulled")} and process <> ${param("process")} order by id`);
const removeOld = statement(sql`delete from ${publicHits} where written_at <= ${param("before")}`);

interface SyncDeps {
  db: Database;
  now: () => number;
  onPulled: (subject: string, bucket: HitBucket) => void;
  notice: (message: string) => void;
}

/** Pushes the hits of this process to the database, and pulls those of others. Does nothing while none are counted. */
export class CounterSync {
  readonly #deps: SyncDeps;
  readonly #process = randomBytes(9).toString("base64url");
  #unsent = new Map<string, HitBucket[]>();
  #pulled = 0;
  #pulledAt = Number.NEGATIVE_INFINITY;
  #last: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isFailing = false;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** Whether the hits of others were pulled just now, or cannot be read. */
  get isCurrent(): boolean {
    return this.#isFailing || Math.abs(this.#deps.now() - this.#pulledAt) <= intervalMs;
  }

  add(subject: string, at: number): void {
    if (this.#unsent.size < maxSubjects || this.#unsent.has(subject)) addHits(this.#unsent, subject, { at, hits: 1 });
    this.#timer ??= setTimeout(() => this.catchUp(), intervalMs).unref();
  }

  /** Runs one sync for all waiting callers. A failure is reported to `notice`, not thrown, and retried. */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.sync()
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        if (!this.#isFailing) this.#deps.notice(`processes cannot share their rate limits for now: ${why}`);
        this.#isFailing = true;
      })
      .finally(() => {
        this.#catchingUp = undefined;
        clearTimeout(this.#timer);
        this.#timer = this.#unsent.size > 0 ? setTimeout(() => this.catchUp(), intervalMs).unref() : undefined;
      });
    return this.#catchingUp;
  }

  /** Pushes and pulls once. Errors: those of the database; unpushed hits wait for the next sync. */
  sync(): Promise<void> {
    const next = () => this.#syncOnce();
    this.#last = this.#last.then(next, next);
    return this.#last;
  }

  /** Pushes the rest and ends. Hits that cannot be pushed are lost. */
  async stop(): Promise<void> {
    await (this.#unsent.size > 0 ? this.sync() : this.#last).catch(() => {});
    clearTimeout(this.#timer);
  }

  async #syncOnce(): Promise<void> {
    const { db, now, onPulled } = this.#deps;
    const unsent = this.#unsent;
    this.#unsent = new Map();
    const values = { process: this.#process, pulled: this.#pulled, now: now() };
    const pushing =
      unsent.size === 0 ? [] : [bind(push, { ...values, hits: JSON.stringify(Object.fromEntries(unsent)) })];
    try {
      const results = await db.batch([...pushing, bind(pull, values)], pushing.length > 0 ? "write" : "read");
      for (const { id, hits } of rowsOf(pull, results.at(-1))) {
        this.#pulled = id;
        // The clock of another machine may be ahead.
        for (const [subject, { at, hits: count }] of pairsOf(Object.entries(JSON.parse(hits)))) {
          onPulled(subject, { at: Math.min(at, now()), hits: count });
        }
      }
      this.#pulledAt = now();
      this.#isFailing = false;
    } catch (error) {
      for (const [subject, bucket] of pairsOf(unsent)) {
        if (bucket.at > now() - windowMs) addHits(this.#unsent, subject, bucket);
      }
      throw error;
    }
  }
}

function* pairsOf(bucketsBySubject: Iterable<[string, HitBucket[]]>): Generator<[string, HitBucket]> {
  for (const [subject, buckets] of bucketsBySubject) for (const bucket of buckets) yield [subject, bucket];
}

export function purgePublicHits(ctx: { db: Executor; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: ctx.now() - keptMs });
}
