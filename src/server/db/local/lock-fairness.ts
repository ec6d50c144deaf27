import { closeSync, fstatSync, futimesSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { giveToOwner } from "../../config/data-dir.ts";
import { unavailable } from "../../errors.ts";

/** Longest pause between two tries of one that waits, and how long a busy process stands back for it. */
const pauseMs = 5;
const freshMs = 30;

/**
 * Turns between processes that write to one file. SQLite's lock is not fair: a server that commits without a pause
 * would keep the others out for as long as it is busy. Whoever waits stamps a small file; whoever has just committed
 * looks at the stamp, and stands back for a moment when it is fresh. A process that dies leaves nothing but a date.
 */
export class LockTurns {
  readonly #file: number;
  #stamped = 0;
  #open = true;

  /** Opens the file of the stamp, creating it where needed. Errors: unavailable when that is impossible. */
  constructor(path: string) {
    try {
      this.#file = openSync(path, "a", 0o600);
      giveToOwner(path, dirname(path));
    } catch (cause) {
      throw unavailable("The data directory cannot be written.", { cause });
    }
  }

  /** Waits 1 to 5 ms before the next try, and tells the others that someone waits. */
  async waitTurn(): Promise<void> {
    if (this.#open) this.#stamp();
    await Bun.sleep(1 + Math.random() * (pauseMs - 1));
  }

  /** True when another process has been trying for the lock within the last moments. */
  othersWait(): boolean {
    if (!this.#open) return false;
    const stamp = Math.round(fstatSync(this.#file).mtimeMs);
    return stamp !== this.#stamped && Math.abs(Date.now() - stamp) < freshMs;
  }

  /** Stands back long enough for everyone who waits to try once. */
  async giveWay(): Promise<void> {
    await Bun.sleep(pauseMs + 1);
  }

  close(): void {
    this.#open = false;
    closeSync(this.#file);
  }

  #stamp(): void {
    const now = Date.now();
    this.#stamped = now;
    try {
      futimesSync(this.#file, now / 1000, now / 1000);
    } catch {
      // Without the stamp the wait is only less fair.
    }
  }
}
