import type { SeenRequest } from "./status.ts";

const keptMs = 60_000;
/** Anyone may send such calls; more than this are not remembered. */
const maxKept = 100;

/** Remembers for a minute how the last calls arrived that asked for it. */
export class SeenRequests {
  readonly #now: () => number;
  readonly #kept = new Map<string, { seen: SeenRequest; until: number }>();

  /** @param now epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  note(seen: SeenRequest): void {
    this.#kept.delete(seen.request_id);
    this.#kept.set(seen.request_id, { seen, until: this.#now() + keptMs });
    for (const [id, { until }] of this.#kept) {
      if (this.#kept.size <= maxKept && until > this.#now()) break;
      this.#kept.delete(id);
    }
  }

  /** The call of that request id; null where none was seen of late. */
  find(requestId: string): SeenRequest | null {
    const found = this.#kept.get(requestId);
    return found !== undefined && found.until > this.#now() ? found.seen : null;
  }
}
