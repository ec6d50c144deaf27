import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database, Executor } from "../../db/session.ts";
import { bind, param, rowsOf, run, statement } from "../../db/statement.ts";
import { publicHits } from "./table.ts";
import { addHits, type HitBucket, windowMs } from "./write-counts.ts";

/** Hits are pushed within this time, and pulled before a decision after this time: others know them within a second. */
const intervalMs = 500;
/** Maximum number of subjects in one row, so that a row stays small; hits of more are counted by this process alone. */
const maxSubjects = 5000;
/** Rows are kept for twice the time that they count, for machines whose clocks differ. */
const keptMs = 2 * windowMs;

const push = statement(sql`
  insert or replace into ${publicHits} (process, written_at, hits)
  values (${param("process")}, ${param("writtenAt")}, ${param("hits")})`);
const pull = statement<PulledRow>(sql`
  select rowid as position, hits from ${publicHits}
  where rowid > ${param("position")} and process <> ${param("process")} order by rowid`);
// The newest row is always kept, so that the next one gets a higher rowid.
const removeOld = statement(sql`
  delete from ${publicHits} where written_at <= ${param("before")}
    and rowid < (select max(rowid) from ${publicHits})`);

interface PulledRow {
  position: number;
  /** JSON: `{"<subject>": [at, hits, at, hits, …]}`. */
  hits: string;
}

interface SyncDeps {
  db: Database;
  now: () => number;
  /** Receives hits that other processes have counted. */
  onPulled: (subject: string, at: number, hits: number) => void;
  notice: (message: string) => void;
}

/** Pushes the hits that this process counts to the database, and pulls those of others. Idle while none are counted. */
export class CounterSync {
  readonly #deps: SyncDeps;
  readonly #process = randomBytes(9).toString("base64url");
  #unsent = new Map<string, HitBucket[]>();
  /** Rowid of the last pulled row. */
  #position = 0;
  #pulledAt = Number.NEGATIVE_INFINITY;
  #pushedAt = 0;
  #last: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** True when the hits of others were pulled just now, or cannot be read. */
  get isCurrent(): boolean {
    return this.#isFailing || Math.abs(this.#deps.now() - this.#pulledAt) <= intervalMs;
  }

  add(subject: string, at: number): void {
    if (this.#unsent.size < maxSubjects || this.#unsent.has(subject)) addHits(this.#unsent, subject, at, 1);
    this.#schedule();
  }

  /** Runs one sync for all callers that wait for it. A failure is reported to `notice` and not thrown. */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.sync()
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        if (!this.#isFailing) this.#deps.notice(`processes cannot share their rate limits for now: ${why}`);
        this.#isFailing = true;
      })
      .finally(() => {
        this.#catchingUp = undefined;
        this.#schedule();
      });
    return this.#catchingUp;
  }

  /** Pushes and pulls once. Errors: those of the database; hits that were not pushed wait for the next sync. */
  sync(): Promise<void> {
    const next = () => this.#syncOnce();
    this.#last = this.#last.then(next, next);
    return this.#last;
  }

  /** Pushes what is left and ends. Hits that cannot be pushed are lost with the process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await (this.#unsent.size > 0 ? this.sync() : this.#last).catch(() => {});
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#unsent.size === 0 || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.catchUp();
    }, intervalMs);
    this.#timer.unref();
  }

  async #syncOnce(): Promise<void> {
    const { db, now, onPulled } = this.#deps;
    const unsent = this.#unsent;
    this.#unsent = new Map();
    try {
      const pullNew = bind(pull, { process: this.#process, position: this.#position });
      const isPushing = unsent.size > 0;
      const results = await db.batch(
        isPushing ? [this.#bindPush(unsent), pullNew] : [pullNew],
        isPushing ? "write" : "read",
      );
      for (const { position, hits } of rowsOf(pull, results.at(-1))) {
        this.#position = position;
        for (const [subject, numbers] of Object.entries(JSON.parse(hits) as Record<string, number[]>)) {
          for (let i = 0; i < numbers.length; i += 2) {
            // The clock of another machine may be ahead.
            onPulled(subject, Math.min(numbers[i] as number, now()), numbers[i + 1] as number);
          }
        }
      }
      this.#pulledAt = now();
      this.#isFailing = false;
    } catch (error) {
      for (const [subject, buckets] of unsent) {
        for (const { at, hits } of buckets) if (at > now() - windowMs) addHits(this.#unsent, subject, at, hits);
      }
      throw error;
    }
  }

  #bindPush(unsent: Map<string, HitBucket[]>) {
    const at = this.#deps.now();
    // The rows of one process have different times, unless its clock was set back by more than a minute.
    this.#pushedAt = Math.abs(at - this.#pushedAt) > windowMs ? at : Math.max(at, this.#pushedAt + 1);
    const hits = [...unsent].map(([subject, buckets]) => [
      subject,
      buckets.flatMap((bucket) => [bucket.at, bucket.hits]),
    ]);
    return bind(push, {
      process: this.#process,
      writtenAt: this.#pushedAt,
      hits: JSON.stringify(Object.fromEntries(hits)),
    });
  }
}

/** Removes rows that no longer count. Returns how many. */
export function purgePublicHits(ctx: { db: Executor; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: ctx.now() - keptMs });
}
