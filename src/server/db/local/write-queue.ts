import { unavailable } from "../../errors.ts";
import { isTurnOver } from "../../values/turns.ts";
import { isBusy, mapDbError } from "../db-errors.ts";
import type { Connection } from "./connection.ts";
import { type GroupOptions, type Job, runGroup, type WriteScope } from "./group-commit.ts";
import type { LockFairness } from "./lock-fairness.ts";

/** Limits of the queue; all times in milliseconds. */
export interface WriteQueueOptions extends GroupOptions {
  /** How long a write waits for another process's lock before it is refused with unavailable. */
  lockDeadlineMs: number;
  /** Writes that may wait; further ones are refused with unavailable. */
  maxWaiting: number;
  /** Whether writes must wait as if another process held the lock. */
  mustWait: () => boolean;
}

const defaults: WriteQueueOptions = {
  lockDeadlineMs: 5000,
  writeTimeoutMs: 5000,
  maxWaiting: 10_000,
  mustWait: () => false,
  maxGroup: 1000,
  groupMs: 50,
  beforeCommit: () => {},
  onCommit: () => {},
};

/**
 * The one way to write to the local file from this process. All waiting writes run one after another inside one
 * BEGIN IMMEDIATE … COMMIT, each in a savepoint of its own, and are answered after the COMMIT: one fsync serves many
 * acknowledged writes. A group starts from `setImmediate`, when all requests of the tick have queued their writes.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #fairness: LockFairness;
  readonly #options: WriteQueueOptions;
  #jobs: (Job | undefined)[] = [];
  #next = 0;
  #isDriving = false;
  #idle: (() => void)[] = [];
  /** Transactions committed so far, empty ones not counted. */
  commits = 0;
  /** Whether a write was lost, because it could not be committed or the lock was not released, since this was last reset. */
  hasLost = false;

  constructor(connection: Connection, fairness: LockFairness, options: Partial<WriteQueueOptions> = {}) {
    this.#connection = connection;
    this.#fairness = fairness;
    this.#options = { ...defaults, ...options };
  }

  get waiting(): number {
    return this.#jobs.length - this.#next;
  }

  /** How long the first waiting write has waited, in milliseconds; 0 where none waits. */
  get waitMs(): number {
    const job = this.#peek();
    return job === undefined ? 0 : Math.max(0, performance.now() + this.#options.lockDeadlineMs - job.deadline);
  }

  /**
   * Queues one write: `work` uses the writer connection and is undone alone when it fails. Resolves after the COMMIT.
   * Errors: those of `work`; unavailable for a lock that is not released in time, a full queue, a write that takes too
   * long, or a faulty disk.
   */
  enqueue<T>(work: (scope: WriteScope) => T | Promise<T>): Promise<T> {
    return this.#push(work, false);
  }

  /** Runs work that needs the writer outside of any transaction, such as a checkpoint, before the writes that wait. */
  exclusive<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#push(work, true);
  }

  drain(): Promise<void> {
    return this.#isDriving ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  /** Begins a transaction within `exclusive`, whose work must end it. Returns false when the lock is not released in time. */
  async beginExclusive(): Promise<boolean> {
    const deadline = performance.now() + this.#options.lockDeadlineMs;
    while (!this.#tryBegin()) {
      if (performance.now() > deadline) return false;
      await this.#fairness.waitForLock();
    }
    return true;
  }

  #push<T>(work: (scope: WriteScope) => T | Promise<T>, isExclusive: boolean): Promise<T> {
    if (this.waiting >= this.#options.maxWaiting) return Promise.reject(unavailable("Too many writes are waiting."));
    return new Promise<T>((resolve, reject) => {
      const deadline = performance.now() + this.#options.lockDeadlineMs;
      const job: Job = { isExclusive, work, resolve: resolve as (value: never) => void, reject, deadline };
      if (isExclusive) this.#jobs.splice(this.#next, 0, job);
      else this.#jobs.push(job);
      if (this.#isDriving) return;
      this.#isDriving = true;
      // After a long turn, such as that of a large body, others come first.
      setImmediate(isTurnOver() ? setImmediate : queueMicrotask, () => void this.#drive());
    });
  }

  async #drive(): Promise<void> {
    while (this.waiting > 0) {
      try {
        if (this.#peek()?.isExclusive) await this.#runExclusive(this.#take() as Job);
        else if (await this.#begin()) await this.#runGroup();
      } catch (error) {
        // Only the queue's own statements can fail here, so the first job cannot be served.
        this.hasLost = true;
        this.#take()?.reject(mapDbError(error));
      }
      await this.#fairness.yieldLock();
    }
    this.#isDriving = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #runGroup(): Promise<void> {
    const nextJob = () => (this.#peek()?.isExclusive ? undefined : this.#take());
    const outcome = await runGroup(this.#connection, nextJob, this.#options);
    if (outcome === "changed") this.commits++;
    this.hasLost ||= outcome === "lost";
  }

  async #runExclusive(job: Job): Promise<void> {
    try {
      job.resolve((await job.work({ hasEnded: false, deferred: [] })) as never);
    } catch (error) {
      job.reject(mapDbError(error));
    }
  }

  async #begin(): Promise<boolean> {
    while (this.#options.mustWait() || !this.#tryBegin()) {
      const now = performance.now();
      // Deadlines rise along the queue, before which exclusive work comes.
      while (this.waiting > 0 && (this.#peek() as Job).deadline <= now) {
        this.hasLost = true;
        this.#take()?.reject(unavailable("The database is busy.", { isInternal: true }));
      }
      if (this.waiting === 0 || this.#peek()?.isExclusive) return false;
      await this.#fairness.waitForLock();
    }
    return true;
  }

  #tryBegin(): boolean {
    try {
      if (this.#connection.inTransaction) this.#connection.run("ROLLBACK");
      this.#connection.run("BEGIN IMMEDIATE");
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  #peek(): Job | undefined {
    return this.#jobs[this.#next];
  }

  #take(): Job | undefined {
    const job = this.#jobs[this.#next];
    if (job === undefined) return undefined;
    // Frees what a job refers to, such as a batch of an import, as soon as it is done.
    this.#jobs[this.#next] = undefined;
    this.#next++;
    if (this.#next > 1024 && this.#next * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#next);
      this.#next = 0;
    }
    return job;
  }
}
