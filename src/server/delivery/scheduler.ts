import type { Source } from "./channel.ts";
import { CircuitBreakers, type CircuitPolicy } from "./circuit-breaker.ts";

/** How many attempts may run at once: all together, for one store, to one receiver. */
type Limits = Record<"total" | "tenant" | "receiver", number>;

export interface SchedulerPolicy {
  /** Each pool has as many permits of its own. */
  permits: Limits;
  /** How many of `permits` the receivers may use that are slow, failing or unknown, so that others always have most. */
  untrusted: Limits;
  batch: number;
  circuits: CircuitPolicy;
}

export interface Permit {
  source: Source;
  counted: string[];
  isAdmitted: boolean;
}

/** Deliveries behind receivers without a permit are skipped to find some for others, at most this many between two polls. */
const maxSkipped = 200;
/** How long a skipped delivery waits at least, and by how much more at most, so that they do not all come at once. */
const skippedMs = 2000;
const maxSpreadMs = 10_000;

/** The names of the limits of all attempts of a pool, and of those to receivers that are not trusted. */
const all = "all";
const untrustedOnly = "untrusted";

/** Decides which store may send next, and to which receiver. The store with the fewest attempts in progress comes first. */
export class Scheduler {
  readonly circuits: CircuitBreakers;
  readonly #policy: SchedulerPolicy;
  readonly #asking = new Map<string, Source>();
  /** Skipped deliveries since the last poll, by source. */
  readonly #skipped = new Map<string, number>();
  /** Permits in use, by pool and by the name of the limit. */
  readonly #used: Map<string, number>[] = [];

  constructor(policy: SchedulerPolicy, now: () => number) {
    this.#policy = policy;
    this.circuits = new CircuitBreakers(policy.circuits, now);
  }

  /** Puts a source at the end of those that wait for permits, unless it is among them or has skipped enough. */
  ask(source: Source): void {
    const isDone = (this.#skipped.get(source.key) ?? 0) >= maxSkipped;
    if (!isDone && !this.#asking.has(source.key)) this.#asking.set(source.key, source);
  }

  poll(ready: Source[]): void {
    this.#skipped.clear();
    for (const source of ready) this.ask(source);
  }

  /** Permits for the next source, which must ask again for more; none when no source can get any now. */
  acquire(): Permit[] {
    let source: Source | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const one of this.#asking.values()) {
      const rank = one.pool * this.#policy.permits.total + this.#usedOf(one, one.tenantId);
      if (rank >= lowest || !this.#isReady(one)) continue;
      source = one;
      lowest = rank;
      // No other store can have fewer attempts in progress.
      if (rank === 0) break;
    }
    if (source === undefined) return [];
    const limits = this.#limitsOf(source);
    // All sources that ask share the permits that are left.
    const share = Math.ceil((this.#policy.permits.total - this.#usedOf(source, all)) / this.#asking.size);
    this.#asking.delete(source.key);
    return Array.from({ length: Math.min(this.#policy.batch, share, this.#roomIn(source, limits)) }, () => {
      const permit: Permit = { source, counted: [], isAdmitted: source.receiver !== undefined };
      this.#count(permit, limits);
      return permit;
    });
  }

  /** Whether a source can get a permit now. One whose receiver is paused does not wait: the next poll asks again. */
  #isReady(source: Source): boolean {
    const { key, receiver } = source;
    const { permits, untrusted } = this.#policy;
    if (this.#usedOf(source, all) >= permits.total) return false;
    if (receiver === undefined) return this.#usedOf(source, source.tenantId) < permits.tenant;
    // Thousands of sources may wait for receivers that do not answer.
    if (this.#usedOf(source, untrustedOnly) >= untrusted.total && !this.circuits.isTrusted(receiver)) return false;
    const isPaused = !this.circuits.isClosed(receiver) && this.circuits.waitMs(receiver) > 0;
    if (isPaused) this.#asking.delete(key);
    return !isPaused && this.#roomIn(source, this.#limitsOf(source)) > 0;
  }

  /** Returns 0 if a claimed delivery may go to its receiver now; otherwise for how long it must wait, in milliseconds. */
  admit(permit: Permit, receiver: string): number {
    if (permit.isAdmitted) return 0;
    const { source } = permit;
    const openMs = this.circuits.waitMs(receiver);
    const limits = this.#receiverLimits(source, receiver);
    if (openMs === 0 && this.#roomIn(source, limits) > 0) {
      permit.isAdmitted = true;
      this.#count(permit, limits);
      return 0;
    }
    this.#skipped.set(source.key, (this.#skipped.get(source.key) ?? 0) + 1);
    return openMs + skippedMs + Math.round(Math.random() * Math.min(openMs + skippedMs, maxSpreadMs));
  }

  release({ source, counted }: Permit): void {
    for (const name of counted) this.#add(source, name, -1);
  }

  #limitsOf(source: Source): [string, number][] {
    const { permits } = this.#policy;
    const own: [string, number][] = [
      [all, permits.total],
      [source.tenantId, permits.tenant],
    ];
    return source.receiver === undefined ? own : [...own, ...this.#receiverLimits(source, source.receiver)];
  }

  #receiverLimits({ tenantId }: Source, receiver: string): [string, number][] {
    const { permits, untrusted } = this.#policy;
    const isTrusted = this.circuits.isTrusted(receiver);
    const max = !this.circuits.isClosed(receiver) ? 1 : isTrusted ? permits.receiver : untrusted.receiver;
    const own: [string, number] = [`to ${receiver}`, max];
    return isTrusted ? [own] : [[untrustedOnly, untrusted.total], own, [`untrusted ${tenantId}`, untrusted.tenant]];
  }

  #roomIn(source: Source, limits: [string, number][]): number {
    return Math.min(...limits.map(([name, max]) => max - this.#usedOf(source, name)));
  }

  #usedOf({ pool }: Source, name: string): number {
    return this.#used[pool]?.get(name) ?? 0;
  }

  #count({ source, counted }: Permit, limits: [string, number][]): void {
    for (const [name] of limits) {
      counted.push(name);
      this.#add(source, name, 1);
    }
  }

  #add(source: Source, name: string, by: 1 | -1): void {
    this.#used[source.pool] ??= new Map();
    const used = this.#usedOf(source, name) + by;
    if (used === 0) this.#used[source.pool]?.delete(name);
    else this.#used[source.pool]?.set(name, used);
  }
}
