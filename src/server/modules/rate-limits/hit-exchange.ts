import { randomBytes } from "node:crypto";
import type { Database } from "../../db/session.ts";
import { exchangeHits, type HeardHits, type SharedHits } from "./shared-hits.ts";
import { addHits, type HitBucket, windowMs } from "./write-counts.ts";

/** What is counted is written within this time and read by others within this time: together a second. */
const everyMs = 500;
/** So many exchanges without a hit of our own end them; the next hit begins with one. */
const maxIdle = 6;
/** Who has read within this time knows what others had counted a second ago. */
const currentMs = 1000;
/** Who has not read for longer may have rows before it of any age, and can tell that only by their own times. */
const followingMs = 3000;
/** By how much clocks of machines may differ until times by one of them say nothing. */
const clockSlackMs = 5000;
/** Subjects in one row; those with several hits come first, and the rest waits for the next. */
const maxWritten = 2000;
/** Subjects that wait to be written; in a storm of new ones, others are not told of the rest. */
const maxWaiting = 20_000;

interface ExchangeDeps {
  db: Database;
  /** Epoch milliseconds. */
  present: () => number;
  /** Takes what other processes have counted. */
  onHeard: (subject: string, at: number, hits: number) => void;
  notice: (message: string) => void;
}

/** Tells other processes of the database what this one has counted, and hears what they have. */
export interface HitExchange {
  /** Adds a hit to what others are told. */
  add(subject: string, at: number): void;
  /** Sees to it that an exchange follows, and others for as long as this is called. */
  keepGoing(): void;
  /** Whether what others have counted is known, save for what came within the last second; or cannot be known now. */
  isCurrent(): boolean;
  /** One exchange for all who ask while it is under way. What fails is told to `notice`, and is no error. */
  catchUp(): Promise<void>;
  /** One exchange. Errors: those of the database; what was not told is told by the next. */
  exchange(): Promise<void>;
  stop(): Promise<void>;
  /** Forgets what waits to be told. */
  clear(): void;
}

/** Makes the exchange of one process, which costs nothing while nothing is counted. */
export function createHitExchange({ db, present, onHeard, notice }: ExchangeDeps): HitExchange {
  const process = randomBytes(9).toString("base64url");
  const waiting = new Map<string, HitBucket[]>();
  let position = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let writtenAt = 0;
  let last: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let idle = 0;
  let isFailing = false;
  let isStopped = false;
  let catchingUp: Promise<void> | undefined;

  async function tryExchange(): Promise<void> {
    try {
      await exchange();
      isFailing = false;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!isFailing) notice(`public writes are limited by each process alone for now: ${why}`);
      isFailing = true;
    }
  }

  function exchangeIn(ms: number): void {
    timer = setTimeout(async () => {
      idle += 1;
      await tryExchange();
      timer = undefined;
      if (!isStopped && (idle < maxIdle || waiting.size > 0)) exchangeIn(everyMs);
    }, ms);
    timer.unref();
  }

  function exchange(): Promise<void> {
    last = last.then(exchangeOnce, exchangeOnce);
    return last;
  }

  async function exchangeOnce(): Promise<void> {
    const isFollowing = present() - readAt <= followingMs;
    const since = isFollowing ? 0 : present() - windowMs;
    const hits = takeWaiting();
    try {
      const own = hits.length > 0 ? { writtenAt: nextTime(), hits } : null;
      const result = await exchangeHits(db, { process, position }, own, since);
      position = result.position;
      for (const row of result.heard) hear(row, isFollowing);
      readAt = present();
    } catch (error) {
      putBack(hits);
      throw error;
    }
  }

  /** When a row is written: no two of one process at the same time, unless its clock was set back. */
  function nextTime(): number {
    const at = present();
    writtenAt = at > writtenAt || writtenAt - at > clockSlackMs ? at : writtenAt + 1;
    return writtenAt;
  }

  function takeWaiting(): SharedHits {
    const several: SharedHits = [];
    const single: SharedHits = [];
    for (const [subject, buckets] of waiting) {
      const [first] = buckets;
      (buckets.length > 1 || (first?.hits ?? 0) > 1 ? several : single).push([subject, buckets]);
    }
    const taken = [...several, ...single].slice(0, maxWritten);
    for (const [subject] of taken) waiting.delete(subject);
    return taken;
  }

  function putBack(hits: SharedHits): void {
    const at = present();
    for (const [subject, buckets] of hits) {
      const still = buckets.filter((bucket) => bucket.at + windowMs > at);
      for (const newer of waiting.get(subject) ?? []) addHits(still, newer.at, newer.hits);
      if (still.length > 0) waiting.set(subject, still);
    }
  }

  /** Counts a row. One that is new, but not by its time, is from a machine with another clock, and was written just now. */
  function hear(row: HeardHits, isFollowing: boolean): void {
    const at = present();
    const ahead = row.writtenAt - at;
    const shift = isFollowing && Math.abs(ahead) > clockSlackMs ? ahead : 0;
    for (const [subject, buckets] of row.hits) {
      for (const bucket of buckets) onHeard(subject, Math.min(bucket.at - shift, at), bucket.hits);
    }
  }

  return {
    add(subject, at) {
      const buckets = waiting.get(subject);
      if (buckets) addHits(buckets, at, 1);
      else if (waiting.size < maxWaiting) waiting.set(subject, [{ at, hits: 1 }]);
    },
    keepGoing() {
      idle = 0;
      if (timer === undefined && !isStopped) exchangeIn(0);
    },
    isCurrent: () => isFailing || present() - readAt <= currentMs,
    catchUp() {
      catchingUp ??= tryExchange().finally(() => {
        catchingUp = undefined;
      });
      return catchingUp;
    },
    exchange,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      // What is not told ends with this process; that alone is no reason to end badly.
      await (waiting.size > 0 ? exchange() : last).catch(() => {});
    },
    clear: () => waiting.clear(),
  };
}
