import { type AppError, unavailable } from "../errors.ts";

/** Lets a few callers at a time do something; the others wait in the order they came. */
export class Turns {
  readonly #capacity: number;
  readonly #maxWaiting: number;
  #taken = 0;
  #waiting: { start: () => void; reject: (error: AppError) => void; timer: Timer }[] = [];
  #idle: (() => void)[] = [];

  constructor(capacity: number, maxWaiting = 10_000) {
    this.#capacity = capacity;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a turn and answers the function that gives it back; calling that twice does no harm. Errors: unavailable when
   * none comes within `deadlineMs`, or too many wait.
   */
  take(deadlineMs: number): Promise<() => void> {
    if (this.#taken < this.#capacity) {
      this.#taken++;
      return Promise.resolve(this.#giver());
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      return Promise.reject(unavailable("Too many writes are waiting.", { retryAfter: 1 }));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one !== place);
        reject(unavailable("The database is busy.", { retryAfter: 1 }));
      }, deadlineMs);
      const place = { start: () => resolve(this.#giver()), reject, timer };
      this.#waiting.push(place);
    });
  }

  /** Resolves when every turn is given back and nobody waits. */
  drain(): Promise<void> {
    return this.#taken === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #giver(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.#waiting.shift();
      if (next !== undefined) {
        clearTimeout(next.timer);
        next.start();
        return;
      }
      this.#taken--;
      if (this.#taken === 0) for (const resolve of this.#idle.splice(0)) resolve();
    };
  }
}
