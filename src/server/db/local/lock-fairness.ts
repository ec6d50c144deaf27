import { closeSync, fstatSync, futimesSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { chownLike } from "../../config/data-dir.ts";
import { errnoOf, unavailable } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";

/** The longest pause of a waiting process before it tries again, in milliseconds. */
const pauseMs = 5;
/** How long the timestamp of a waiting process is valid, in milliseconds. */
const freshMs = 30;
/** To make others wait, a process sets the file's time this far ahead. If it dies, the others wait only until then. */
const holdMs = 1000;

/**
 * Makes processes that write to one file take turns. SQLite's lock is not fair: a server that commits without a pause
 * would keep the others out. So a waiting process sets the time of a small file, and a process that has just committed
 * pauses if that time is recent. If the waiting process dies, the time is soon too old.
 */
export class LockFairness {
  readonly #file: number;
  #stamped = 0;
  #isOpen = true;
  #isHolding = false;

  /** Opens the file, creating it if needed. Errors: unavailable when that is impossible. */
  constructor(path: string) {
    try {
      this.#file = openSync(path, "a", 0o600);
      chownLike(path, dirname(path));
    } catch (cause) {
      throw unavailable(`The data directory ${dirname(path)} cannot be written (${errnoOf(cause)}).`, { cause });
    }
  }

  /** Waits 1 to 5 ms before the next try, and sets the file's time so that other processes see it. */
  async waitForLock(): Promise<void> {
    if (this.#isOpen && !this.isHeld()) this.#stamp(Date.now());
    await Bun.sleep(1 + Math.random() * (pauseMs - 1));
  }

  /** After a commit, lets other work of this process run, and gives each waiting process one try. */
  async yieldLock(): Promise<void> {
    const stamp = this.#isOpen ? Math.round(fstatSync(this.#file).mtimeMs) : this.#stamped;
    const hasWaiters = stamp !== this.#stamped && Math.abs(Date.now() - stamp) < freshMs;
    if (hasWaiters) await Bun.sleep(pauseMs + 1);
    else await new Promise((resolve) => setImmediate(resolve));
  }

  /** Keeps other processes from starting a write. Call it while none of them has the write lock. */
  holdOthers(): void {
    this.#isHolding = true;
    this.#stamp(Date.now() + holdMs);
  }

  releaseOthers(): void {
    this.#isHolding = false;
    this.#stamp(Date.now() - freshMs);
  }

  isHeld(): boolean {
    if (!this.#isOpen || this.#isHolding) return false;
    const aheadMs = fstatSync(this.#file).mtimeMs - Date.now();
    // A time further ahead is ignored: it means that the clock was set back.
    return aheadMs > freshMs && aheadMs <= holdMs;
  }

  close(): void {
    this.#isOpen = false;
    closeSync(this.#file);
  }

  #stamp(time: number): void {
    this.#stamped = time;
    // If the file's time cannot be set, waiting is less fair, but nothing else changes.
    attempt(() => futimesSync(this.#file, time / 1000, time / 1000));
  }
}
