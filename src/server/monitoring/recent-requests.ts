import type { RecentRequest } from "./server-status.ts";

const keptMs = 60_000;
/** Anyone may send such requests, so only this many are kept. */
const maxKept = 100;

/** Keeps for a minute how the last requests of `bodega doctor` arrived. */
export class RecentRequests {
  readonly #now: () => number;
  readonly #kept = new Map<string, { request: RecentRequest; until: number }>();

  /** @param now epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  record(request: RecentRequest): void {
    this.#kept.delete(request.request_id);
    this.#kept.set(request.request_id, { request, until: this.#now() + keptMs });
    for (const [id, { until }] of this.#kept) {
      if (this.#kept.size <= maxKept && until > this.#now()) break;
      this.#kept.delete(id);
    }
  }

  /** The request with that id; null where none arrived within the last minute. */
  find(requestId: string): RecentRequest | null {
    const found = this.#kept.get(requestId);
    return found !== undefined && found.until > this.#now() ? found.request : null;
  }
}
