import { unavailable } from "../../errors.ts";
import { isBusy, mapDbError } from "../db-errors.ts";
import type { Connection } from "./connection.ts";
import { type GroupBounds, type Job, runGroup, type UnitLife } from "./group-commit.ts";
import type { LockTurns } from "./lock-fairness.ts";

/** Bounds of the queue; all times in milliseconds. */
export interface WriterQueueOptions extends GroupBounds {
  /** How long a write waits for another process's lock before it is refused with unavailable. */
  lockDeadlineMs: number;
  /** Units that may wait; beyond it unavailable. */
  maxWaiting: number;
  /** Runs after each COMMIT, before anyone is answered. */
  onCommit: () => void;
}

const defaults: WriterQueueOptions = {
  lockDeadlineMs: 5000,
  unitLimitMs: 5000,
  maxWaiting: 10_000,
  groupUnits: 1000,
  groupMs: 50,
  onCommit: () => {},
};

/**
 * The one way to write to the local file from this process. All units that wait are run one after another inside one
 * BEGIN IMMEDIATE … COMMIT, each in a savepoint of its own, and are answered after the COMMIT: one fsync serves many
 * acknowledged writes. A group starts from `setImmediate`, when all requests of the tick have queued theirs.
 */
export class WriterQueue {
  readonly #connection: Connection;
  readonly #turns: LockTurns;
  readonly #options: WriterQueueOptions;
  #jobs: (Job | undefined)[] = [];
  #next = 0;
  #driving = false;
  #idle: (() => void)[] = [];
  #commits = 0;

  constructor(connection: Connection, turns: LockTurns, options: Partial<WriterQueueOptions> = {}) {
    this.#connection = connection;
    this.#turns = turns;
    this.#options = { ...defaults, ...options };
  }

  /** Transactions committed so far, empty ones not counted. */
  get commits(): number {
    return this.#commits;
  }

  /** Units that wait for their turn. */
  get waiting(): number {
    return this.#jobs.length - this.#next;
  }

  /** How long the unit at the front has waited, in milliseconds; 0 where none waits. */
  get waitMs(): number {
    const job = this.#peek();
    return job === undefined ? 0 : Math.max(0, performance.now() + this.#options.lockDeadlineMs - job.deadline);
  }

  /** True when no unit waits or runs. */
  get isIdle(): boolean {
    return !this.#driving;
  }

  /**
   * Queues one unit: `work` uses the writer connection and is undone alone when it fails. Resolves after the COMMIT.
   * Errors: the unit's own; unavailable when the lock, the queue, the unit's time or the disk gives out.
   */
  enqueue<T>(work: (life: UnitLife) => T | Promise<T>): Promise<T> {
    return this.#push(work, false);
  }

  /** Queues work that needs the writer outside of any transaction, such as a checkpoint. */
  exclusive<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#push(work, true);
  }

  /** Resolves when the queue has run dry. */
  drain(): Promise<void> {
    return this.#driving ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  /** Begins a transaction within `exclusive`, which ends it itself; waits like a unit, false after the deadline. */
  async beginAlone(): Promise<boolean> {
    const deadline = performance.now() + this.#options.lockDeadlineMs;
    while (!this.#tryBegin()) {
      if (performance.now() > deadline) return false;
      await this.#turns.waitTurn();
    }
    return true;
  }

  #push<T>(work: (life: UnitLife) => T | Promise<T>, alone: boolean): Promise<T> {
    if (this.waiting >= this.#options.maxWaiting) {
      return Promise.reject(unavailable("Too many writes are waiting.", { retryAfter: 1 }));
    }
    return new Promise<T>((resolve, reject) => {
      const deadline = performance.now() + this.#options.lockDeadlineMs;
      this.#jobs.push({ alone, work, resolve: resolve as (value: never) => void, reject, deadline });
      if (this.#driving) return;
      this.#driving = true;
      setImmediate(() => this.#drive());
    });
  }

  async #drive(): Promise<void> {
    while (this.waiting > 0) {
      try {
        if (this.#peek()?.alone) await this.#runAlone(this.#take() as Job);
        else if (await this.#begin()) await this.#runGroup();
      } catch (error) {
        // Only the queue's own statements can fail here, so whoever waits at the front cannot be served.
        this.#take()?.reject(mapDbError(error));
      }
      // The event loop gets its turn between groups, and so do processes that wait for the lock.
      if (this.#turns.othersWait()) await this.#turns.giveWay();
      else await new Promise((resolve) => setImmediate(resolve));
    }
    this.#driving = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #runGroup(): Promise<void> {
    const takeJob = () => (this.#peek()?.alone ? undefined : this.#take());
    if (await runGroup(this.#connection, takeJob, this.#options)) this.#commits++;
  }

  async #runAlone(job: Job): Promise<void> {
    try {
      job.resolve((await job.work({ ended: false })) as never);
    } catch (error) {
      job.reject(mapDbError(error));
    }
  }

  async #begin(): Promise<boolean> {
    while (!this.#tryBegin()) {
      const now = performance.now();
      // Deadlines rise along the queue, except that work which runs alone keeps its place.
      while (this.waiting > 0 && (this.#peek() as Job).deadline <= now) {
        this.#take()?.reject(unavailable("The database is busy.", { retryAfter: 1 }));
      }
      if (this.waiting === 0 || this.#peek()?.alone) return false;
      await this.#turns.waitTurn();
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
    // What a job holds, such as a whole portion of an import, is let go as soon as it is done.
    this.#jobs[this.#next] = undefined;
    this.#next++;
    if (this.#next > 1024 && this.#next * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#next);
      this.#next = 0;
    }
    return job;
  }
}
