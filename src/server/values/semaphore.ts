import { type AppError, unavailable } from "../errors.ts";

interface Waiter {
  start: () => void;
  timer: Timer | undefined;
}

/** Limits of a semaphore, and the error for callers that it refuses. */
export interface SemaphoreOptions {
  /** Permits held at the same time. */
  permits: number;
  /** Callers that may wait for one; 10,000 without it. */
  maxWaiting?: number;
  /** Message of the error when too many wait. */
  fullMessage: string;
}

/** Limits the number of callers that work at a time. The others wait in order of arrival. */
export class Semaphore {
  readonly #fullMessage: string;
  #permits: number;
  #maxWaiting: number;
  #held = 0;
  #waiting: Waiter[] = [];
  #idle: (() => void)[] = [];

  constructor({ permits, maxWaiting = 10_000, fullMessage }: SemaphoreOptions) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
    this.#fullMessage = fullMessage;
  }

  /** Callers that wait for a permit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** True when no permit is held. */
  get isIdle(): boolean {
    return this.#held === 0;
  }

  /** Changes the limits for callers from now on. */
  configure(limits: { permits?: number; maxWaiting?: number }): void {
    this.#permits = limits.permits ?? this.#permits;
    this.#maxWaiting = limits.maxWaiting ?? this.#maxWaiting;
  }

  /**
   * Runs `work` while it holds a permit; at once if one is free. Errors: those of `work`; unavailable when too many wait,
   * or no permit is released within `timeoutMs`.
   */
  async run<T>(work: () => Promise<T>, timeoutMs?: number): Promise<T> {
    if (this.#held < this.#permits) this.#held++;
    else await this.#wait(timeoutMs);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Resolves when no permit is held and nobody waits. */
  drain(): Promise<void> {
    return this.#held === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #wait(timeoutMs: number | undefined): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) return Promise.reject(this.#refusal(this.#fullMessage));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { start: resolve, timer: undefined };
      if (timeoutMs !== undefined) {
        waiter.timer = setTimeout(() => {
          this.#waiting = this.#waiting.filter((one) => one !== waiter);
          reject(unavailable("The database is busy.", { isInternal: true }));
        }, timeoutMs);
      }
      this.#waiting.push(waiter);
    });
  }

  /** Passes the permit to the first that waits. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      clearTimeout(next.timer);
      next.start();
      return;
    }
    this.#held--;
    if (this.#held === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #refusal(message: string): AppError {
    return unavailable(message, { retryAfter: 1 });
  }
}
