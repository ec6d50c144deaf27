import type { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";

export interface ReplicationStatus {
  place: string;
  /** The age of the newest state that a restore would return. */
  lag_seconds: number;
  last_snapshot_at: string | null;
  failure: { since: string; message: string } | null;
}

const repeatMs = 3_600_000;
/** A place counts as working after this time, because it may fail every few seconds. */
const steadyMs = 60_000;
const retryMs = { least: 1000, most: 5000 };
const hangingMs = 10_000;

/** Logs a repeated message once, then hourly. */
export class Failures {
  readonly #write: LogWriter["notice"];
  readonly #texts: readonly [fails: string, works: string];
  readonly #loggedAt = new Map<string, number>();
  #failedAt: number | undefined;
  #delayMs = retryMs.least;
  #calledAt: number | undefined;
  last: ReplicationStatus["failure"] = null;

  /** `texts`: the beginning of each failure message, and the message that the place works again. */
  constructor(write: LogWriter["notice"], ...texts: readonly [fails: string, works: string]) {
    this.#write = write;
    this.#texts = texts;
  }

  readonly notice: LogWriter["notice"] = (level, message) => {
    if (Date.now() - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatMs) return;
    this.#loggedAt.set(message, Date.now());
    this.#write(level, message);
  };

  /** Returns the milliseconds until the next try, which double with each failure. */
  begin(error: unknown): number {
    const { message: what, remedy = "Check the place, its account and the network." } = error as AppError;
    const message = `${what} ${remedy}`;
    this.#calledAt = undefined;
    this.#failedAt = Date.now();
    this.notice("error", `${this.#texts[0]}: ${message}`);
    this.last = { since: this.last?.since ?? new Date().toISOString(), message };
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, retryMs.most);
    return delayMs;
  }

  call(): void {
    this.#calledAt = Date.now();
  }

  /** Returns the last failure, or that a call hangs. */
  present(place: string): ReplicationStatus["failure"] {
    const since = this.#calledAt ?? Date.now();
    const ms = Date.now() - since;
    if (this.last !== null || ms < hangingMs) return this.last;
    return {
      since: new Date(since).toISOString(),
      message: `${place} has not answered for ${Math.round(ms / 1000)} s.`,
    };
  }

  end(): void {
    this.#calledAt = undefined;
    this.last = null;
    this.#delayMs = retryMs.least;
    if (this.#failedAt === undefined || Date.now() - this.#failedAt < steadyMs) return;
    this.#failedAt = undefined;
    this.#loggedAt.clear();
    this.#write("info", this.#texts[1]);
  }
}
