import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database, Executor } from "../../db/session.ts";
import { bind, param, run, statement } from "../../db/statement.ts";
import { publicHits } from "./table.ts";
import { addHits, type HitBucket, windowMs } from "./write-counts.ts";

/** Hits are pushed within this time and pulled by others within this time: together a second. */
const intervalMs = 500;
/** After this many syncs without a hit of this process, syncing pauses until its next hit. */
const maxIdle = 6;
/** A process that pulled within this time knows the hits that others counted up to a second ago. */
const currentMs = 1000;
/** Rows pulled within this time of the last pull are new; after a longer pause only their own times show their age. */
const followingMs = 3000;
/** Tolerated difference between the clocks of machines. */
const clockSlackMs = 5000;
/** Maximum number of subjects in one row. Those with several hits come first; the rest waits for the next row. */
const maxPushed = 2000;
/** Maximum number of subjects that wait to be pushed; more are not pushed. */
const maxUnsent = 20_000;
/** Rows are kept for twice the time that they count, for machines whose clocks differ. */
const keptMs = 2 * windowMs;

const push = statement(sql`
  insert or replace into ${publicHits} (process, written_at, hits)
  values (${param("process")}, ${param("writtenAt")}, ${param("hits")})`);
// The newest row is always kept, so that the next one gets a higher rowid.
const removeOld = statement(sql`
  delete from ${publicHits} where written_at <= ${param("before")}
    and rowid < (select max(rowid) from ${publicHits})`);
const pull = statement<PulledRow>(sql`
  select rowid as position, written_at, case when process = ${param("process")} then null else hits end as hits
  from ${publicHits} where rowid > ${param("position")} and written_at > ${param("since")} order by rowid`);

interface PulledRow {
  position: number;
  /** Epoch milliseconds by the clock of the machine that wrote it. */
  written_at: number;
  /** JSON: `{"<subject>": [at, hits, at, hits, …]}`; null for a row of this process. */
  hits: string | null;
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
  readonly #unsent = new Map<string, HitBucket[]>();
  /** Rowid of the last pulled row. */
  #position = 0;
  #pulledAt = Number.NEGATIVE_INFINITY;
  #pushedAt = 0;
  #last: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #idle = 0;
  #isFailing = false;
  #isStopped = false;
  #catchingUp: Promise<void> | undefined;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** True when the hits of others are known up to the last second, or cannot be read now. */
  get isCurrent(): boolean {
    return this.#isFailing || this.#deps.now() - this.#pulledAt <= currentMs;
  }

  add(subject: string, at: number): void {
    const buckets = this.#unsent.get(subject);
    if (buckets) addHits(buckets, at, 1);
    else if (this.#unsent.size < maxUnsent) this.#unsent.set(subject, [{ at, hits: 1 }]);
  }

  /** Starts regular syncs, or continues them. */
  keepGoing(): void {
    this.#idle = 0;
    if (this.#timer === undefined && !this.#isStopped) this.#schedule(0);
  }

  /** Runs one sync for all callers that wait for it. A failure is reported to `notice` and not thrown. */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.#trySync().finally(() => {
      this.#catchingUp = undefined;
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

  /** Drops the hits that wait to be pushed. */
  clear(): void {
    this.#unsent.clear();
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(async () => {
      this.#idle += 1;
      await this.#trySync();
      this.#timer = undefined;
      if (!this.#isStopped && (this.#idle < maxIdle || this.#unsent.size > 0)) this.#schedule(intervalMs);
    }, ms);
    this.#timer.unref();
  }

  async #trySync(): Promise<void> {
    try {
      await this.sync();
      this.#isFailing = false;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!this.#isFailing) this.#deps.notice(`processes cannot share their rate limits for now: ${why}`);
      this.#isFailing = true;
    }
  }

  async #syncOnce(): Promise<void> {
    const { db, now } = this.#deps;
    const isFollowing = now() - this.#pulledAt <= followingMs;
    const since = isFollowing ? 0 : now() - windowMs;
    const pullNew = bind(pull, { process: this.#process, position: this.#position, since });
    const unsent = this.#takeUnsent();
    try {
      const results =
        unsent.length === 0
          ? await db.batch([pullNew], "read")
          : await db.batch([...this.#bindPush(unsent), pullNew], "write");
      const rows = (results.at(-1)?.rows ?? []) as unknown as PulledRow[];
      for (const row of rows) this.#receive(row, isFollowing);
      this.#position = rows.at(-1)?.position ?? this.#position;
      this.#pulledAt = now();
    } catch (error) {
      this.#putBack(unsent);
      throw error;
    }
  }

  #bindPush(unsent: [string, HitBucket[]][]) {
    const at = this.#deps.now();
    // No two rows of one process have the same time, unless its clock was set back.
    const isOrdered = at > this.#pushedAt || this.#pushedAt - at > clockSlackMs;
    this.#pushedAt = isOrdered ? at : this.#pushedAt + 1;
    const hits = unsent.map(([subject, buckets]) => [subject, buckets.flatMap((bucket) => [bucket.at, bucket.hits])]);
    const row = { process: this.#process, writtenAt: this.#pushedAt, hits: JSON.stringify(Object.fromEntries(hits)) };
    return [bind(push, row), bind(removeOld, { before: this.#pushedAt - keptMs })];
  }

  /** Counts a row. A new row whose time differs was written just now, on a machine with another clock. */
  #receive({ written_at, hits }: PulledRow, isFollowing: boolean): void {
    if (hits === null) return;
    const { now, onPulled } = this.#deps;
    const at = now();
    const ahead = written_at - at;
    const shift = isFollowing && Math.abs(ahead) > clockSlackMs ? ahead : 0;
    for (const [subject, numbers] of Object.entries(JSON.parse(hits) as Record<string, number[]>)) {
      for (let i = 0; i < numbers.length; i += 2) {
        onPulled(subject, Math.min((numbers[i] as number) - shift, at), numbers[i + 1] as number);
      }
    }
  }

  #takeUnsent(): [string, HitBucket[]][] {
    const isSeveral = ([, buckets]: [string, HitBucket[]]) => Number(buckets.length > 1 || (buckets[0]?.hits ?? 0) > 1);
    const taken = [...this.#unsent].sort((a, b) => isSeveral(b) - isSeveral(a)).slice(0, maxPushed);
    for (const [subject] of taken) this.#unsent.delete(subject);
    return taken;
  }

  #putBack(unsent: [string, HitBucket[]][]): void {
    const at = this.#deps.now();
    for (const [subject, buckets] of unsent) {
      const still = buckets.filter((bucket) => bucket.at + windowMs > at);
      for (const newer of this.#unsent.get(subject) ?? []) addHits(still, newer.at, newer.hits);
      if (still.length > 0) this.#unsent.set(subject, still);
    }
  }
}

/** Removes rows that no longer count. Returns how many. */
export function purgePublicHits(ctx: { db: Executor; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: ctx.now() - keptMs });
}
