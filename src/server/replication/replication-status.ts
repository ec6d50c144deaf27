import type { LogWriter } from "../logging/logger.ts";

/** How a replica is doing; times are RFC 3339. */
export interface ReplicationStatus {
  place: string;
  /** How long ago everything that was committed was in the replica. */
  lag_seconds: number;
  last_snapshot_at: string | null;
  /** Null after a later success. */
  failure: { since: string; message: string } | null;
  /** How often parts of it were missing since the server started. */
  missing: number;
}

const retryMs = { least: 1000, most: 30_000 };

/** Notes whether a replica fails, and logs when that begins and ends. */
export class Failures {
  readonly #notice: LogWriter["notice"];
  #delayMs = retryMs.least;
  last: ReplicationStatus["failure"] = null;

  constructor(notice: LogWriter["notice"]) {
    this.#notice = notice;
  }

  /** Returns the milliseconds until the next try: twice as long each time. */
  begin(error: unknown): number {
    const { message } = error as Error;
    if (this.last === null) this.#notice("error", `replication fails and is tried again: ${message}`);
    this.last = { since: this.last?.since ?? new Date().toISOString(), message };
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, retryMs.most);
    return delayMs;
  }

  end(): void {
    if (this.last !== null) this.#notice("info", "replication works again");
    this.last = null;
    this.#delayMs = retryMs.least;
  }
}
