import type { Source } from "./channel.ts";
import { CircuitBreakers, type CircuitPolicy } from "./circuit-breaker.ts";

/** How many attempts may run at once: all together, for one store, to one receiver. */
type Limits = Record<"total" | "tenant" | "receiver", number>;

export interface SchedulerPolicy {
  permits: Limits;
  /** How many of `permits` the receivers may use that are slow, failing or unknown, so that others always have most. */
  untrusted: Limits;
  /** How many deliveries are claimed at once. */
  batch: number;
  circuits: CircuitPolicy;
}

/** The right to make one attempt, and the names of the limits that count it. */
export interface Permit {
  source: Source;
  counted: string[];
}

/** Deliveries to receivers without a permit are skipped to find some for others, at most this many between two polls. */
const maxSkipped = 200;
/** How long a skipped delivery waits at least, and by how much more at most, so that they do not all come at once. */
const skippedMs = { min: 2000, spread: 10_000 };

/** Decides which source may send next, and to which receiver. The store with the fewest attempts in progress comes first. */
export class Scheduler {
  readonly circuits: CircuitBreakers;
  readonly #policy: SchedulerPolicy;
  readonly #asking = new Map<string, Source>();
  /** Skipped deliveries since the last poll, by source. */
  readonly #skipped = new Map<string, number>();
  /** Permits in use, by the name of the limit. */
  readonly #used = new Map<string, number>();

  constructor(policy: SchedulerPolicy, now: () => number) {
    this.#policy = policy;
    this.circuits = new CircuitBreakers(policy.circuits, now);
  }

  poll(ready: Source[]): void {
    this.#skipped.clear();
    for (const source of ready) this.ask(source);
  }

  /** Puts a source at the end of those that wait for permits, unless it is among them or has skipped enough. */
  ask(source: Source): void {
    const isDone = (this.#skipped.get(source.key) ?? 0) >= maxSkipped;
    if (!isDone && !this.#asking.has(source.key)) this.#asking.set(source.key, source);
  }

  /** Permits for the next source, which must ask again for more; none when no source can get any now. */
  acquire(): Permit[] {
    let next: Source | undefined;
    for (const source of this.#asking.values()) {
      const isLess = next === undefined || this.#usedBy(source) < this.#usedBy(next);
      if (isLess && this.#roomIn(this.#limitsOf(source)) > 0) next = source;
    }
    if (next === undefined) return [];
    const source = next;
    this.#asking.delete(source.key);
    const limits = this.#limitsOf(source);
    const count = Math.min(this.#policy.batch, this.#roomIn(limits));
    return Array.from({ length: count }, () => this.#count({ source, counted: [] }, limits));
  }

  /** Returns 0 if a claimed delivery may go to its receiver now; otherwise for how long it must wait, in milliseconds. */
  admit(permit: Permit, receiver: string): number {
    if (permit.source.receiver !== undefined) return 0;
    const { key, tenantId } = permit.source;
    const limits = this.#receiverLimits(receiver, tenantId);
    if (this.#roomIn(limits) > 0) {
      this.#count(permit, limits);
      return 0;
    }
    this.#skipped.set(key, (this.#skipped.get(key) ?? 0) + 1);
    const waitMs = this.circuits.waitMs(receiver) + skippedMs.min;
    return waitMs + Math.round(Math.random() * Math.min(waitMs, skippedMs.spread));
  }

  release({ counted }: Permit): void {
    for (const name of counted) {
      const used = this.#usedOf(name) - 1;
      if (used === 0) this.#used.delete(name);
      else this.#used.set(name, used);
    }
  }

  #limitsOf({ tenantId, receiver }: Source): [string, number][] {
    const { permits } = this.#policy;
    const toReceiver = receiver === undefined ? [] : this.#receiverLimits(receiver, tenantId);
    return [["all", permits.total], [`store ${tenantId}`, permits.tenant], ...toReceiver];
  }

  #receiverLimits(receiver: string, tenantId: string): [string, number][] {
    const { permits, untrusted } = this.#policy;
    const name = `to ${receiver}`;
    if (this.circuits.waitMs(receiver) > 0) return [[name, 0]];
    const isProbe = !this.circuits.isClosed(receiver);
    if (this.circuits.isTrusted(receiver)) return [[name, isProbe ? 1 : permits.receiver]];
    return [
      [name, isProbe ? 1 : untrusted.receiver],
      ["untrusted", untrusted.total],
      [`untrusted ${tenantId}`, untrusted.tenant],
    ];
  }

  #roomIn(limits: [string, number][]): number {
    return Math.min(...limits.map(([name, max]) => max - this.#usedOf(name)));
  }

  #usedBy({ tenantId }: Source): number {
    return this.#usedOf(`store ${tenantId}`);
  }

  #usedOf(name: string): number {
    return this.#used.get(name) ?? 0;
  }

  #count(permit: Permit, limits: [string, number][]): Permit {
    for (const [name] of limits) {
      permit.counted.push(name);
      this.#used.set(name, this.#usedOf(name) + 1);
    }
    return permit;
  }
}
