import { priorities } from "./fan-out.ts";

/** What goes out at once: in a pool, and of it to one service that answers, for one store, or where nothing is known; in a turn. */
export const most = { pool: 32, service: 24, tenant: 24, unknown: 8, slow: 4, turn: 8 };
/** A service that takes longer to answer is slow. */
const slowMs = 2000;
/** What waits behind a slow service is looked through for what goes elsewhere, so much a look; it waits so long then. */
const behindSlow = { most: 100, waitMs: 4000 };
/** How long a service that is down is left alone: doubled with each failure in a row, up to the second. */
const holdMs = { first: 5000, longest: 300_000 };

/** What waits has a pool of its own by its priority, so that nothing behind can take the slots of what comes first. */
export const pools = Object.values(priorities);

/** Permission to make one attempt; to be given back. */
export interface Slot {
  tenantId: string;
  pool: number;
}

/** What the last attempts have shown of a push service. */
interface Health {
  isKnown: boolean;
  isSlow: boolean;
  isFailing: boolean;
  /** How often in a row it was down. */
  failures: number;
  /** Epoch milliseconds. */
  heldUntil: number;
  busy: number;
  /** When something there began or ended last. */
  movedAt: number;
}

/**
 * Who may send next, and where to. Stores take turns; of a service that is slow, failing or not known yet only so much is
 * in the air that the rest has room, and one that is down is left alone for a while.
 */
export function createPushShares(now: () => number) {
  const health = new Map<string, Health>();
  const lanes = pools.map(() => ({ asking: new Set<string>(), busy: new Map<string, number>(), total: 0 }));
  /** How many a store may send at once, where its service is full; and how much was looked through behind a slow one. */
  const crowded = pools.map(() => new Map<string, number>());
  const passed = pools.map(() => new Map<string, number>());
  const inAir = pools.map(() => new Map<string, number>());

  function roomOf(pool: number, tenantId: string): number {
    const lane = lanes[pool] as (typeof lanes)[number];
    const limit = crowded[pool]?.get(tenantId) ?? most.tenant;
    // What is left is for all who ask.
    const part = Math.ceil((most.pool - lane.total) / Math.max(lane.asking.size, 1));
    return Math.min(most.turn, part, limit - (lane.busy.get(tenantId) ?? 0));
  }

  function healthOf(service: string): Health {
    let known = health.get(service);
    if (!known) {
      forgetSome();
      known = { isKnown: false, isSlow: false, isFailing: false, failures: 0, heldUntil: 0, busy: 0, movedAt: 0 };
      health.set(service, known);
    }
    return known;
  }

  /** Strangers name the services: what is not in use goes when there are too many. */
  function forgetSome(): void {
    if (health.size < 10_000) return;
    for (const [service, { busy, heldUntil }] of health) if (busy === 0 && heldUntil <= now()) health.delete(service);
  }

  return {
    /** Puts a store at the end of those that wait for a turn, unless it is among them. */
    ask(tenantId: string, pool: number): void {
      lanes[pool]?.asking.add(tenantId);
    },

    /** Lets all try again how much their services take. */
    reopen(): void {
      for (const counts of [...crowded, ...passed]) counts.clear();
    },

    /** Slots of the store that sends least, who has to ask for the next ones; none when nobody can have any now. */
    take(): Slot[] {
      for (const pool of pools) {
        const lane = lanes[pool] as (typeof lanes)[number];
        let chosen: string | undefined;
        for (const tenantId of lane.asking) {
          if (roomOf(pool, tenantId) <= 0) continue;
          if (chosen === undefined || (lane.busy.get(tenantId) ?? 0) < (lane.busy.get(chosen) ?? 0)) chosen = tenantId;
        }
        if (chosen === undefined) continue;
        const slots = Array.from({ length: roomOf(pool, chosen) }, () => ({ tenantId: chosen, pool }));
        lane.asking.delete(chosen);
        add(lane.busy, chosen, slots.length);
        lane.total += slots.length;
        return slots;
      }
      return [];
    },

    /** Gives a slot back. */
    release({ tenantId, pool }: Slot): void {
      const lane = lanes[pool] as (typeof lanes)[number];
      add(lane.busy, tenantId, -1);
      lane.total -= 1;
    },

    /**
     * Asks for the service that a taken delivery goes to. Answers 0 when it may go now, and is to be `left` later; else
     * the time, in epoch milliseconds, before which it has no chance.
     */
    enter(service: string, { tenantId, pool }: Slot): number {
      const known = healthOf(service);
      if (known.heldUntil > now()) return known.heldUntil;
      const limit = known.isFailing ? 1 : known.isSlow ? most.slow : known.isKnown ? most.service : most.unknown;
      if (known.busy < limit) {
        if (known.busy === 0) known.movedAt = now();
        known.busy += 1;
        add(inAir[pool] as Map<string, number>, tenantId, 1);
        return 0;
      }
      const isMoving = !known.isFailing && !known.isSlow && now() - known.movedAt < slowMs;
      const count = (passed[pool]?.get(tenantId) ?? 0) + 1;
      passed[pool]?.set(tenantId, count);
      // Where there is room again at once, looking for others only costs.
      if (isMoving || count >= behindSlow.most) {
        crowded[pool]?.set(tenantId, Math.max(inAir[pool]?.get(tenantId) ?? 0, 1));
      }
      return now() + (isMoving ? 0 : behindSlow.waitMs);
    },

    leave(service: string, { tenantId, pool }: Slot): void {
      add(inAir[pool] as Map<string, number>, tenantId, -1);
      const known = healthOf(service);
      known.busy -= 1;
      known.movedAt = now();
    },

    /** Notes an answer that says the service works, and how long it took. Answers whether it failed before. */
    noteAnswer(service: string, tookMs: number): boolean {
      const known = healthOf(service);
      const wasFailing = known.isFailing;
      Object.assign(known, { isKnown: true, isSlow: tookMs >= slowMs, isFailing: false, failures: 0, heldUntil: 0 });
      return wasFailing;
    },

    /**
     * Notes that a service is down. Answers whether it is the first time since it worked.
     * @param waitMs how long it asks to be left alone, 0 if it does not.
     */
    noteFailure(service: string, waitMs: number): boolean {
      const known = healthOf(service);
      const isFirst = !known.isFailing;
      // What failed at the same time counts once.
      if (known.heldUntil <= now()) {
        known.heldUntil = now() + Math.min(holdMs.first * 2 ** known.failures, holdMs.longest);
        known.failures = Math.min(known.failures + 1, 10);
      }
      known.isFailing = true;
      known.heldUntil = Math.max(known.heldUntil, now() + waitMs);
      return isFirst;
    },
  };
}

/** Counts, and forgets what has come to nothing. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
