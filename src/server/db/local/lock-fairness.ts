import { closeSync, fstatSync, futimesSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { chownLike } from "../../config/data-dir.ts";
import { errnoOf, unavailable } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";

/** Longest pause between two tries of a waiting process, and how long a stamp counts. */
const pauseMs = 5;
const freshMs = 30;
/** A process that holds the others off stamps a time so far ahead; if it dies, they go on then. */
const holdMs = 1000;

/**
 * Fairness between processes that write to one file. SQLite's lock is not fair: a server that commits without a pause
 * would keep the others out. A waiting process stamps the time of a small file; a process that has just committed
 * pauses when the stamp is fresh. A process that dies leaves only an old time behind.
 */
export class LockFairness {
  readonly #file: number;
  #stamped = 0;
  #isOpen = true;
  #isHolding = false;

  /** Opens the file of the stamp, creating it where needed. Errors: unavailable when that is impossible. */
  constructor(path: string) {
    try {
      this.#file = openSync(path, "a", 0o600);
      chownLike(path, dirname(path));
    } catch (cause) {
      throw unavailable(`The data directory ${dirname(path)} cannot be written (${errnoOf(cause)}).`, { cause });
    }
  }

  /** Waits 1 to 5 ms before the next try, and stamps the file so that other processes see it. */
  async waitForLock(): Promise<void> {
    if (this.#isOpen && !this.isHeld()) this.#stamp(Date.now());
    await Bun.sleep(1 + Math.random() * (pauseMs - 1));
  }

  /** Lets the event loop turn after a commit, and every process that waits for the lock try once. */
  async yieldLock(): Promise<void> {
    const stamp = this.#isOpen ? Math.round(fstatSync(this.#file).mtimeMs) : this.#stamped;
    const hasWaiters = stamp !== this.#stamped && Math.abs(Date.now() - stamp) < freshMs;
    if (hasWaiters) await Bun.sleep(pauseMs + 1);
    else await new Promise((resolve) => setImmediate(resolve));
  }

  /** Keeps other processes from beginning a write, for a moment in which none has the lock. */
  holdOthers(): void {
    this.#isHolding = true;
    this.#stamp(Date.now() + holdMs);
  }

  releaseOthers(): void {
    this.#isHolding = false;
    this.#stamp(Date.now() - freshMs);
  }

  /** Whether another process holds the others off. */
  isHeld(): boolean {
    if (!this.#isOpen || this.#isHolding) return false;
    const aheadMs = fstatSync(this.#file).mtimeMs - Date.now();
    // Further ahead, the clock was set back.
    return aheadMs > freshMs && aheadMs <= holdMs;
  }

  close(): void {
    this.#isOpen = false;
    closeSync(this.#file);
  }

  #stamp(time: number): void {
    this.#stamped = time;
    // Without the stamp the wait is only less fair.
    attempt(() => futimesSync(this.#file, time / 1000, time / 1000));
  }
}
