import type { Source } from "./channel.ts";
import { CircuitBreakers, type CircuitPolicy } from "./circuit-breaker.ts";

export interface SchedulerPolicy {
  /** How many attempts may run at once: in total, per store, per receiver. */
  permits: Record<"total" | "tenant" | "receiver", number>;
  /** How many permits slow, failing or unknown receivers may use, so that most are always left for others. */
  untrusted: Record<"total" | "receiver", number>;
  batch: number;
  circuits: CircuitPolicy;
}

/** The minimum wait of a delivery that was claimed although its receiver had no permit. */
const skippedMs = 2000;

/** Decides which source may send next, and to which receiver. The store with the fewest attempts in progress comes first. */
export class Scheduler {
  readonly circuits: CircuitBreakers;
  readonly #policy: SchedulerPolicy;
  readonly #asking = new Map<string, Source>();
  /** Number of running attempts, by the name of each limit. */
  readonly #running = new Map<string, number>();

  constructor(policy: SchedulerPolicy, now: () => number) {
    this.#policy = policy;
    this.circuits = new CircuitBreakers(policy.circuits, now);
  }

  /** Appends sources to the queue for permits, unless they are in it. */
  ask(...sources: Source[]): void {
    for (const source of sources) this.#asking.set(source.key, source);
  }

  /** Removes and returns the next source, and how many deliveries it may claim; undefined if none may now. */
  next(): { source: Source; max: number } | undefined {
    let next: Source | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const source of this.#asking.values()) {
      const running = this.#countOf(`store ${source.tenantId}`);
      if (running >= fewest || this.#roomFor(source, source.receiver) <= 0) continue;
      next = source;
      fewest = running;
    }
    if (next === undefined) return undefined;
    this.#asking.delete(next.key);
    return { source: next, max: Math.min(this.#policy.batch, this.#roomFor(next, next.receiver)) };
  }

  /** Returns 0 if a claimed delivery may go to its receiver now; otherwise for how long it must wait, in milliseconds. */
  waitMs(source: Source, receiver: string): number {
    if (this.#roomFor(source, receiver) > 0) return 0;
    // Random, so that they do not all return at once.
    return this.circuits.waitMs(receiver) + skippedMs * (1 + Math.random());
  }

  start(source: Source, receiver: string): () => void {
    const limits = this.#limitsOf(source, receiver);
    for (const [name] of limits) this.#running.set(name, this.#countOf(name) + 1);
    return () => {
      for (const [name] of limits) {
        const count = this.#countOf(name) - 1;
        if (count > 0) this.#running.set(name, count);
        else this.#running.delete(name);
      }
    };
  }

  #roomFor(source: Source, receiver: string | undefined): number {
    return Math.min(...this.#limitsOf(source, receiver).map(([name, max]) => max - this.#countOf(name)));
  }

  #limitsOf({ tenantId }: Source, receiver: string | undefined): [name: string, max: number][] {
    const { permits, untrusted } = this.#policy;
    const own: [string, number][] = [
      ["all", permits.total],
      [`store ${tenantId}`, permits.tenant],
    ];
    if (receiver === undefined) return own;
    const isTrusted = this.circuits.isTrusted(receiver);
    const max = isTrusted ? permits.receiver : untrusted.receiver;
    const open = this.circuits.waitMs(receiver) > 0 ? 0 : 1;
    own.push([`to ${receiver}`, this.circuits.isClosed(receiver) ? max : open]);
    return isTrusted ? own : [...own, ["untrusted", untrusted.total]];
  }

  #countOf(name: string): number {
    return this.#running.get(name) ?? 0;
  }
}
