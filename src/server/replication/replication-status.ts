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

const retryMs = { least: 1000, most: 5000 };
/** A call that takes longer counts as a failure while it lasts. */
const hangingMs = 10_000;

/** Notes whether a replica fails, and logs when that begins and ends. */
export class Failures {
  readonly #notice: LogWriter["notice"];
  #delayMs = retryMs.least;
  #calledAt: number | undefined;
  last: ReplicationStatus["failure"] = null;

  constructor(notice: LogWriter["notice"]) {
    this.#notice = notice;
  }

  /** Returns the milliseconds until the next try: twice as long each time. */
  begin(error: unknown): number {
    const { message } = error as Error;
    this.#calledAt = undefined;
    if (this.last === null) this.#notice("error", `replication fails and is tried again: ${message}`);
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
    if (this.last !== null) this.#notice("info", "replication works again");
    this.last = null;
    this.#delayMs = retryMs.least;
  }
}

/** Until when a restore would have everything. All times are epoch milliseconds. */
export class Progress {
  #sentAt = Date.now();
  #restorableAt: number | undefined;

  get restorableAt(): number {
    return this.#restorableAt ?? this.#sentAt;
  }

  /** All commits until then were sent. */
  sent(at: number): void {
    this.#sentAt = at;
  }

  /** What is sent from now on needs a new snapshot. */
  loseBase(): void {
    this.#restorableAt ??= this.#sentAt;
  }

  /** A snapshot was finished. */
  findBase(): void {
    this.#restorableAt = undefined;
  }
}
