import type { InStatement } from "@libsql/core/api";
import { isTickOverBudget } from "../../concurrency/event-loop.ts";
import { unavailable } from "../../errors.ts";
import { sqlOf } from "../bind-args.ts";
import { mapDbError } from "../db-errors.ts";
import { assertOrdinary } from "../scan-sql.ts";
import type { Result, Session } from "../session.ts";
import { type GroupOptions, type Job, runGroup, type Unit } from "./group.ts";
import type { Writer } from "./writer.ts";

/** Limits of the queue; all times in milliseconds. */
export interface WriteQueueOptions extends GroupOptions {
  /** How long a write may wait for its turn and for the lock. A write that waits longer is refused with unavailable. */
  lockDeadlineMs: number;
  /** How many writes may wait. Further writes are refused with unavailable. */
  maxWaiting: number;
  /** Whether writes must wait as if another process held the lock. */
  mustWait: () => boolean;
}

const refuseEveryMs = 100;

const defaults: WriteQueueOptions = {
  lockDeadlineMs: 5000,
  writeTimeoutMs: 5000,
  maxWaiting: 10_000,
  maxGroup: 1000,
  groupMs: 50,
  mustWait: () => false,
};

interface QueuedJob extends Job {
  /** Work to run instead of a unit, while no transaction is open. */
  exclusive?: () => unknown;
  /** The time until which the job may wait, by `performance.now()`. */
  deadline: number;
}

/**
 * All writes of a process go through this queue. Waiting writes run one after another in one BEGIN IMMEDIATE … COMMIT,
 * each in a savepoint, and are answered after the COMMIT. A group starts from `setImmediate`, when all requests of the
 * tick have queued their writes. See README.md in this folder.
 */
export class WriteQueue {
  readonly #writer: Writer;
  readonly #options: WriteQueueOptions;
  #jobs: QueuedJob[] = [];
  /** Settles when no job waits any more; undefined while the queue is idle. */
  #driving: Promise<void> | undefined;
  /** The number of committed groups that changed something. */
  commits = 0;
  /** When a write first was not committed, or not in time; undefined after `checkWrites` has found that writes work. */
  lostSince: number | undefined;

  constructor(writer: Writer, options: Partial<WriteQueueOptions> = {}) {
    this.#writer = writer;
    this.#options = { ...defaults, ...options };
  }

  get waiting(): number {
    return this.#jobs.length;
  }

  /** How long the first waiting write has waited, in milliseconds; 0 if none waits. */
  get waitMs(): number {
    const job = this.#jobs[0];
    return job === undefined ? 0 : Math.max(0, performance.now() + this.#options.lockDeadlineMs - job.deadline);
  }

  /**
   * Runs statements as one unit. A failure rolls back only this unit. Resolves after the COMMIT.
   * @throws the error of the statement that fails; unavailable if the lock is not released in time, the queue is full,
   * or the disk or the connection fails; TypeError for a statement that only the data layer may run.
   */
  async run(stmts: readonly InStatement[]): Promise<Result[]> {
    for (const stmt of stmts) assertOrdinary(sqlOf(stmt));
    return this.#push({ stmts });
  }

  /** Runs `work` as one unit. Errors: those of `work` and `run`; unavailable for work that takes too long. */
  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T> {
    return this.#push({ work });
  }

  /** Runs `work`, such as a checkpoint, before the waiting writes. No transaction is open when it starts. */
  exclusive<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#push({ stmts: [] }, work);
  }

  /** Resolves when every write that was queued before the call is answered. */
  async drain(): Promise<void> {
    await this.#driving;
  }

  /** Begins a transaction that the work of `exclusive` must end. Returns false if the lock is not released in time. */
  async beginExclusive(): Promise<boolean> {
    const deadline = performance.now() + this.#options.lockDeadlineMs;
    while (!(await this.#writer.begin(deadline))) {
      if (performance.now() > deadline) return false;
      await this.#writer.waitForLock?.();
    }
    return true;
  }

  #push<T>(unit: Unit, exclusive?: () => unknown): Promise<T> {
    if (!exclusive && this.waiting >= this.#options.maxWaiting)
      return Promise.reject(unavailable("Too many writes are waiting."));
    return new Promise<T>((resolve, reject) => {
      const deadline = performance.now() + this.#options.lockDeadlineMs;
      const job: QueuedJob = { unit, resolve: resolve as (value: never) => void, reject, deadline };
      if (exclusive) this.#jobs.unshift({ ...job, exclusive });
      else this.#jobs.push(job);
      this.#driving ??= new Promise((start) => {
        // After a long turn of the event loop, the queue lets other work run first.
        setImmediate(isTickOverBudget() ? setImmediate : queueMicrotask, () => start(this.#drive()));
      });
    });
  }

  async #drive(): Promise<void> {
    const refusing = setInterval(() => this.#refuseLate(), refuseEveryMs);
    while (this.waiting > 0) {
      try {
        if (this.#jobs[0]?.exclusive) await this.#runExclusive(this.#jobs.shift() as QueuedJob);
        else if (await this.#begin()) await this.#runGroup();
      } catch (error) {
        // Only a statement of the queue itself can fail here. The first job gets its error; the others run later.
        this.lostSince ??= performance.now();
        this.#jobs.shift()?.reject(mapDbError(error));
      }
      await this.#writer.yieldLock?.();
    }
    clearInterval(refusing);
    this.#driving = undefined;
  }

  async #runGroup(): Promise<void> {
    const waiting = { take: (most: number) => this.#takeUnits(most), isEmpty: () => this.waiting === 0 };
    const outcome = await runGroup(this.#writer, waiting, this.#options);
    if (outcome === "lost") this.lostSince ??= performance.now();
    if (outcome === "changed") this.commits++;
  }

  async #runExclusive({ exclusive, resolve, reject }: QueuedJob): Promise<void> {
    try {
      resolve((await exclusive?.()) as never);
    } catch (error) {
      reject(mapDbError(error));
    }
  }

  /** Takes the lock for the waiting units. Returns false if no unit waits, or if exclusive work is first. */
  async #begin(): Promise<boolean> {
    for (let job = this.#jobs[0]; job && !job.exclusive; job = this.#jobs[0]) {
      if (!this.#options.mustWait() && (await this.#writer.begin(job.deadline))) return true;
      await this.#writer.waitForLock?.();
    }
    return false;
  }

  /** Refuses jobs whose deadline has passed. In the queue, exclusive work is first; jobs follow by deadline. */
  #refuseLate(): void {
    const now = performance.now();
    let from = 0;
    while (this.#jobs[from]?.exclusive) from++;
    let to = from;
    while ((this.#jobs[to]?.deadline ?? Number.POSITIVE_INFINITY) <= now) to++;
    for (const { reject } of this.#jobs.splice(from, to - from)) {
      this.lostSince ??= now;
      reject(unavailable("The database is busy.", { isInternal: true }));
    }
  }

  /** Takes the next job, or several if their units are plain statements. */
  #takeUnits(most: number): Job[] {
    const jobs: Job[] = [];
    for (let job = this.#jobs[0]; job && !job.exclusive && jobs.length < most; job = this.#jobs[0]) {
      const isPlain = "stmts" in job.unit;
      if (!isPlain && jobs.length > 0) break;
      jobs.push(this.#jobs.shift() as QueuedJob);
      if (!isPlain) break;
    }
    return jobs;
  }
}
