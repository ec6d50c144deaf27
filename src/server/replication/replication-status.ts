import type { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";

/** How a replica is doing; times are RFC 3339. */
export interface ReplicationStatus {
  place: string;
  /** How long ago the newest state was current that a restore would return. */
  lag_seconds: number;
  last_snapshot_at: string | null;
  /** Null after a later success. */
  failure: { since: string; message: string } | null;
  /** How often parts of it were missing since the server started. */
  missing: number;
}

/** After which time a message that repeats is logged again. */
const repeatMs = 3_600_000;
/** A place works again when it has worked for so long; it may fail every few seconds. */
const steadyMs = 60_000;
const retryMs = { least: 1000, most: 5000 };
/** A call that takes longer counts as a failure while it lasts. */
const hangingMs = 10_000;

/** Notes whether a place fails, and logs when that begins and ends. A message that repeats is logged once, then hourly. */
export class Failures {
  readonly #write: LogWriter["notice"];
  readonly #texts: readonly [fails: string, works: string];
  readonly #loggedAt = new Map<string, number>();
  #failedAt: number | undefined;
  #delayMs = retryMs.least;
  #calledAt: number | undefined;
  last: ReplicationStatus["failure"] = null;

  /** @param texts what begins the message of each failure, and what says that the place works again. */
  constructor(write: LogWriter["notice"], ...texts: readonly [fails: string, works: string]) {
    this.#write = write;
    this.#texts = texts;
  }

  readonly notice: LogWriter["notice"] = (level, message) => {
    if (Date.now() - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatMs) return;
    this.#loggedAt.set(message, Date.now());
    this.#write(level, message);
  };

  /** Returns the milliseconds until the next try: twice as long each time. */
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

  /** Calls to the place begin. */
  call(): void {
    this.#calledAt = Date.now();
  }

  /** The last call's failure, or that of one that has not been answered for long. */
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

/** Until when a restore would have everything. All times are epoch milliseconds. */
export class Progress {
  /** All commits until then were sent. */
  sentAt = Date.now();
  #restorableAt: number | undefined;

  get restorableAt(): number {
    return this.#restorableAt ?? this.sentAt;
  }

  /** Segments that are sent from now on need a new snapshot. */
  loseBase(): void {
    this.#restorableAt ??= this.sentAt;
  }

  /** A snapshot was finished. */
  findBase(): void {
    this.#restorableAt = undefined;
  }
}
