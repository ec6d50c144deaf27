import { CircuitBreakers, type CircuitPolicy, slowMs } from "./circuit-breaker.ts";

/** How many attempts may run at once: all together, for one store, to one receiver. */
interface Limits {
  total: number;
  tenant: number;
  receiver: number;
}

export interface SchedulerPolicy {
  /** How many pools there are, the most important first. Each has permits of its own. */
  pools: number;
  permits: Limits;
  /** How many of `permits` untrusted receivers may use. */
  untrusted: Limits;
  /** How many deliveries one claim may take. */
  batch: number;
  circuits: CircuitPolicy;
}

/** A queue of one store, in one pool, that has deliveries to send. */
export interface Source {
  key: string;
  tenantId: string;
  pool: number;
  /** The receiver of all its deliveries; undefined when each delivery has its own. */
  receiver?: string;
}

export interface Permit {
  source: Source;
  /** Known once the attempt is admitted. */
  receiver?: string;
  isUntrusted?: boolean;
}

type Pool = ReturnType<typeof createPool>;

/**
 * Deliveries behind a full receiver are skipped to find some for others, at most `max` between two polls. They wait `waitMs`
 * then; the first few wait `shortMs`.
 */
const skip = { max: 200, waitMs: 4000, few: 40, shortMs: 500 };

const createPool = () => ({
  /** Sources that wait for permits, in their order. */
  asking: new Map<string, Source>(),
  total: 0,
  tenants: new Map<string, number>(),
  untrusted: { total: 0, tenants: new Map<string, number>() },
  /** Admitted attempts by store. */
  admitted: new Map<string, number>(),
  /** Lower limits of stores whose receivers are full, and how many deliveries were skipped there, until `reopen`. */
  tenantLimits: new Map<string, number>(),
  skipped: new Map<string, number>(),
});

/**
 * Decides which store may send next, and to which receiver. The store with the fewest attempts in progress comes first.
 * Receivers that are slow, failing or unknown share few permits, so that trusted ones always have most; one whose
 * circuit is open gets none.
 */
export class Scheduler {
  readonly circuits: CircuitBreakers;
  readonly #pools: Pool[];
  readonly #policy: SchedulerPolicy;
  readonly #now: () => number;

  /** @param now milliseconds that no change of the clock moves. */
  constructor(policy: SchedulerPolicy, now: () => number) {
    this.#policy = policy;
    this.#now = now;
    this.#pools = Array.from({ length: policy.pools }, createPool);
    this.circuits = new CircuitBreakers(policy.circuits, { pools: policy.pools, now });
  }

  /** Puts a source at the end of those that wait for permits, unless it is among them. */
  ask(source: Source): void {
    const { asking } = this.#poolOf(source);
    if (!asking.has(source.key)) asking.set(source.key, source);
  }

  /** Lets stores whose receivers were full try again. */
  reopen(): void {
    for (const { tenantLimits, skipped } of this.#pools) {
      tenantLimits.clear();
      skipped.clear();
    }
  }

  /** Permits for the next source, which must ask again for more; none when no source can get any now. */
  acquire(): Permit[] {
    for (const pool of this.#pools) {
      const source = this.#nextSource(pool);
      if (!source) continue;
      const permits = Array.from({ length: this.#roomOf(pool, source) }, (): Permit => ({ source }));
      pool.asking.delete(source.key);
      pool.total += permits.length;
      add(pool.tenants, source.tenantId, permits.length);
      const { receiver } = source;
      if (receiver !== undefined) for (const permit of permits) this.#enter(permit, receiver);
      return permits;
    }
    return [];
  }

  /**
   * Asks whether a claimed delivery may go to its receiver now.
   * @returns 0 if it may; otherwise the time until which it will be refused, by `now`.
   */
  admit(permit: Permit, receiver: string): number {
    if (permit.receiver !== undefined) return 0;
    const { tenantId, pool: index } = permit.source;
    if (!this.circuits.isOpen(receiver, index) && this.#hasRoomAt(receiver, permit.source)) {
      this.#enter(permit, receiver);
      return 0;
    }
    const now = this.#now();
    const pool = this.#poolOf(permit.source);
    const circuit = this.circuits.stateOf(receiver, index);
    const isFull = circuit.busy >= this.#limitOf(receiver, index);
    const isMoving = isFull && !circuit.isOpen && now - circuit.movedAt < slowMs;
    const skipped = (pool.skipped.get(tenantId) ?? 0) + 1;
    pool.skipped.set(tenantId, skipped);
    // Where permits become free quickly, searching for other receivers is not worth it.
    if (skipped >= skip.max) this.#limitTenant(pool, tenantId, 0);
    else if (isMoving && this.circuits.isTrusted(receiver)) this.#limitTenant(pool, tenantId, 1);
    const waitMs = isMoving ? 0 : skipped <= skip.few ? skip.shortMs : skip.waitMs;
    return Math.max(circuit.openUntil, now + waitMs);
  }

  release(permit: Permit): void {
    const pool = this.#poolOf(permit.source);
    const { tenantId } = permit.source;
    add(pool.tenants, tenantId, -1);
    pool.total -= 1;
    if (permit.receiver === undefined) return;
    add(pool.admitted, tenantId, -1);
    if (permit.isUntrusted) this.#countUntrusted(pool, tenantId, -1);
    this.circuits.countBusy(permit.receiver, permit.source.pool, -1);
  }

  #poolOf({ pool }: Source): Pool {
    return this.#pools[pool] as Pool;
  }

  #nextSource(pool: Pool): Source | undefined {
    let chosen: Source | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const source of pool.asking.values()) {
      const { key, receiver, tenantId } = source;
      // The next poll asks again.
      if (receiver !== undefined && this.circuits.isOpen(receiver, source.pool)) pool.asking.delete(key);
      else if (this.#roomOf(pool, source) > 0) {
        const group = receiver === undefined ? 0 : this.circuits.rankOf(receiver);
        const rank = group * (this.#policy.permits.total + 1) + (pool.tenants.get(tenantId) ?? 0);
        if (rank >= lowest) continue;
        lowest = rank;
        chosen = source;
      }
    }
    return chosen;
  }

  /** How many permits a source may have now. */
  #roomOf(pool: Pool, source: Source): number {
    const { permits, batch } = this.#policy;
    const limit = pool.tenantLimits.get(source.tenantId) ?? permits.tenant;
    // All sources that ask share the permits that are left.
    const part = Math.ceil((permits.total - pool.total) / Math.max(pool.asking.size, 1));
    const room = Math.min(batch, part, limit - (pool.tenants.get(source.tenantId) ?? 0));
    if (source.receiver === undefined || room <= 0) return room;
    return this.#hasRoomAt(source.receiver, source) ? 1 : 0;
  }

  #limitOf(receiver: string, pool: number): number {
    if (this.circuits.stateOf(receiver, pool).isOpen) return 1;
    return this.circuits.isTrusted(receiver) ? this.#policy.permits.receiver : this.#policy.untrusted.receiver;
  }

  #hasRoomAt(receiver: string, source: Source): boolean {
    const { busy } = this.circuits.stateOf(receiver, source.pool);
    if (busy >= this.#limitOf(receiver, source.pool)) return false;
    if (this.circuits.isTrusted(receiver)) return true;
    const { total, tenants } = this.#poolOf(source).untrusted;
    const limits = this.#policy.untrusted;
    return total < limits.total && (tenants.get(source.tenantId) ?? 0) < limits.tenant;
  }

  #enter(permit: Permit, receiver: string): void {
    const pool = this.#poolOf(permit.source);
    const { tenantId } = permit.source;
    permit.receiver = receiver;
    permit.isUntrusted = !this.circuits.isTrusted(receiver);
    if (permit.isUntrusted) this.#countUntrusted(pool, tenantId, 1);
    add(pool.admitted, tenantId, 1);
    this.circuits.countBusy(receiver, permit.source.pool, 1);
  }

  #countUntrusted({ untrusted }: Pool, tenantId: string, by: number): void {
    untrusted.total += by;
    add(untrusted.tenants, tenantId, by);
  }

  /** Keeps a store from claiming more than it has admitted, or than `least`, until the next poll. */
  #limitTenant(pool: Pool, tenantId: string, least: number): void {
    pool.tenantLimits.set(tenantId, Math.max(pool.admitted.get(tenantId) ?? 0, least));
  }
}

/** Adds to a count, and removes it at zero. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
