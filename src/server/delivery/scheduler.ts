import type { Source } from "./channel.ts";
import { CircuitBreakers, type CircuitPolicy } from "./circuit-breaker.ts";

/** How many attempts may run at once: all together, for one store, to one receiver. */
interface Limits {
  total: number;
  tenant: number;
  receiver: number;
}

export interface SchedulerPolicy {
  /** Each pool has as many permits of its own. */
  permits: Limits;
  /** How many of `permits` the receivers may use that are slow, failing or unknown, so that others always have most. */
  untrusted: Limits;
  /** How many deliveries one claim may take. */
  batch: number;
  circuits: CircuitPolicy;
}

/** The right to make an attempt. It counts towards the limits with these names. */
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

/** Decides which store may send next, and to which receiver. The store with the fewest attempts in progress comes first. */
export class Scheduler {
  readonly circuits: CircuitBreakers;
  readonly #policy: SchedulerPolicy;
  /** Sources that wait for permits, in their order. */
  readonly #asking = new Map<string, Source>();
  /** Skipped deliveries since the last poll, by source. */
  readonly #skipped = new Map<string, number>();
  /** Permits in use, by the name of the limit. */
  readonly #used = new Map<string, number>();

  /** @param now milliseconds that no change of the clock moves. */
  constructor(policy: SchedulerPolicy, now: () => number) {
    this.#policy = policy;
    this.circuits = new CircuitBreakers(policy.circuits, now);
  }

  /** Puts a source at the end of those that wait for permits, unless it is among them or has skipped enough. */
  ask(source: Source): void {
    const isDone = (this.#skipped.get(source.key) ?? 0) >= maxSkipped;
    if (!isDone && !this.#asking.has(source.key)) this.#asking.set(source.key, source);
  }

  /** Puts all sources that have deliveries due among those that wait for permits. */
  poll(ready: Source[]): void {
    this.#skipped.clear();
    for (const source of ready) this.ask(source);
  }

  /** Permits for the next source, which must ask again for more; none when no source can get any now. */
  acquire(): Permit[] {
    let next: { source: Source; limits: [string, number][]; rank: number } | undefined;
    for (const source of this.#asking.values()) {
      const { key, receiver, tenantId, pool } = source;
      if (receiver !== undefined && this.circuits.waitMs(receiver) > 0) {
        // The next poll asks again.
        this.#asking.delete(key);
        continue;
      }
      const limits = this.#limitsOf(source);
      const rank = pool * this.#policy.permits.total + this.#usedOf(`${pool} store ${tenantId}`);
      if ((next === undefined || rank < next.rank) && this.#roomIn(limits) > 0) next = { source, limits, rank };
    }
    if (next === undefined) return [];
    const { source, limits } = next;
    const left = this.#policy.permits.total - this.#usedOf(`${source.pool}`);
    // All sources that ask share the permits that are left.
    const share = Math.ceil(left / this.#asking.size);
    this.#asking.delete(source.key);
    const isAdmitted = source.receiver !== undefined;
    const count = Math.min(this.#policy.batch, share, this.#roomIn(limits));
    return Array.from({ length: count }, () => {
      const permit: Permit = { source, counted: [], isAdmitted };
      this.#count(permit, limits);
      return permit;
    });
  }

  /**
   * Asks whether a claimed delivery may go to its receiver now.
   * @returns 0 if it may; otherwise for how long it must wait, in milliseconds.
   */
  admit(permit: Permit, receiver: string): number {
    if (permit.isAdmitted) return 0;
    const { source } = permit;
    const openMs = this.circuits.waitMs(receiver);
    const limits = this.#receiverLimits(source, receiver);
    if (openMs === 0 && this.#roomIn(limits) > 0) {
      permit.isAdmitted = true;
      this.#count(permit, limits);
      return 0;
    }
    this.#skipped.set(source.key, (this.#skipped.get(source.key) ?? 0) + 1);
    return openMs + skippedMs + Math.round(Math.random() * Math.min(openMs + skippedMs, maxSpreadMs));
  }

  release({ counted }: Permit): void {
    for (const name of counted) {
      const used = this.#usedOf(name) - 1;
      if (used === 0) this.#used.delete(name);
      else this.#used.set(name, used);
    }
  }

  #limitsOf(source: Source): [string, number][] {
    const { permits } = this.#policy;
    const { pool, tenantId, receiver } = source;
    const own: [string, number][] = [
      [`${pool}`, permits.total],
      [`${pool} store ${tenantId}`, permits.tenant],
    ];
    return receiver === undefined ? own : [...own, ...this.#receiverLimits(source, receiver)];
  }

  #receiverLimits({ pool, tenantId }: Source, receiver: string): [string, number][] {
    const { permits, untrusted } = this.#policy;
    const isTrusted = this.circuits.isTrusted(receiver);
    const most = !this.circuits.isClosed(receiver) ? 1 : isTrusted ? permits.receiver : untrusted.receiver;
    const own: [string, number] = [`${pool} receiver ${receiver}`, most];
    if (isTrusted) return [own];
    return [own, [`${pool} untrusted`, untrusted.total], [`${pool} untrusted store ${tenantId}`, untrusted.tenant]];
  }

  #roomIn(limits: [string, number][]): number {
    return Math.min(...limits.map(([name, most]) => most - this.#usedOf(name)));
  }

  #usedOf(name: string): number {
    return this.#used.get(name) ?? 0;
  }

  #count({ counted }: Permit, limits: [string, number][]): void {
    for (const [name] of limits) {
      counted.push(name);
      this.#used.set(name, this.#usedOf(name) + 1);
    }
  }
}
