import { closeSync, fstatSync, futimesSync, openSync } from "node:fs";

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

  constructor(path: string) {
    this.#file = openSync(path, "a", 0o600);
  }

  /** Waits 1 to 5 ms before the next try, and tells the others that someone waits. */
  async waitTurn(): Promise<void> {
    const now = Date.now();
    this.#stamped = now;
    futimesSync(this.#file, now / 1000, now / 1000);
    await Bun.sleep(1 + Math.random() * (pauseMs - 1));
  }

  /** True when another process has been trying for the lock within the last moments. */
  othersWait(): boolean {
    const stamp = Math.round(fstatSync(this.#file).mtimeMs);
    return stamp !== this.#stamped && Math.abs(Date.now() - stamp) < freshMs;
  }

  /** Stands back long enough for everyone who waits to try once. */
  async giveWay(): Promise<void> {
    await Bun.sleep(pauseMs + 1);
  }

  close(): void {
    closeSync(this.#file);
  }
}
