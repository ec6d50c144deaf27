import { pools } from "./fan-out.ts";
import { createServiceHealth, slowMs } from "./service-health.ts";

/**
 * What goes out at once: in a pool, and of it to one service, for one store, in a turn. Services that have taken nothing
 * of late get less each, and all of them together so much of a pool, and of a store's part of it.
 */
export const most = { pool: 32, service: 24, tenant: 24, turn: 8, doubted: { service: 6, pool: 12, tenant: 8 } };
/**
 * What waits behind others is looked through for what goes elsewhere, so much a look; it waits so long then, a short while
 * as long as it is little.
 */
const behind = { most: 200, waitMs: 4000, few: 40, shortMs: 500 };

/** Permission to make one attempt; to be given back. */
export interface Slot {
  tenantId: string;
  pool: number;
  /** Whether it is used for a service that is not trusted. */
  isDoubted?: boolean;
}

/**
 * Who may send next, and where to. Stores take turns; services that are slow, silent or not known yet have few places
 * together, so that those that take what they are sent always have most, and one that is down is left alone for a while.
 */
export function createPushShares(now: () => number) {
  const health = createServiceHealth(now);
  const lanes = pools.map(() => ({ asking: new Set<string>(), busy: new Map<string, number>(), total: 0 }));
  /** How many a store may send at once, where its service is full; and how much was looked through behind others. */
  const crowded = pools.map(() => new Map<string, number>());
  const passed = pools.map(() => new Map<string, number>());
  const inAir = pools.map(() => new Map<string, number>());
  const doubted = pools.map(() => ({ busy: new Map<string, number>(), total: 0 }));

  function roomOf(pool: number, tenantId: string): number {
    const lane = lanes[pool] as (typeof lanes)[number];
    const limit = crowded[pool]?.get(tenantId) ?? most.tenant;
    // What is left is for all who ask.
    const part = Math.ceil((most.pool - lane.total) / Math.max(lane.asking.size, 1));
    return Math.min(most.turn, part, limit - (lane.busy.get(tenantId) ?? 0));
  }

  function hasDoubtedPlace({ tenantId, pool }: Slot): boolean {
    const { busy, total } = doubted[pool] as (typeof doubted)[number];
    return total < most.doubted.pool && (busy.get(tenantId) ?? 0) < most.doubted.tenant;
  }

  function countDoubted({ tenantId, pool }: Slot, by: number): void {
    const places = doubted[pool] as (typeof doubted)[number];
    places.total += by;
    add(places.busy, tenantId, by);
  }

  /** Has a store wait for what it has in the air, or for at least so much, until it may try again. */
  function crowd({ tenantId, pool }: Slot, least: number): void {
    crowded[pool]?.set(tenantId, Math.max(inAir[pool]?.get(tenantId) ?? 0, least));
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
    enter(service: string, slot: Slot): number {
      const { tenantId, pool } = slot;
      const line = health.lineOf(service, pool);
      const isTrusted = health.isTrusted(service);
      const limit = line.isDown ? 1 : isTrusted ? most.service : most.doubted.service;
      const isFull = line.busy >= limit;
      if (line.heldUntil <= now() && !isFull && (isTrusted || hasDoubtedPlace(slot))) {
        slot.isDoubted = !isTrusted;
        if (slot.isDoubted) countDoubted(slot, 1);
        if (line.busy === 0) line.movedAt = now();
        line.busy += 1;
        add(inAir[pool] as Map<string, number>, tenantId, 1);
        return 0;
      }
      const isMoving = isFull && !line.isDown && now() - line.movedAt < slowMs;
      const count = (passed[pool]?.get(tenantId) ?? 0) + 1;
      passed[pool]?.set(tenantId, count);
      // Where there is room again at once, looking for others only costs.
      if (count >= behind.most) crowd(slot, 0);
      else if (isMoving && isTrusted) crowd(slot, 1);
      return Math.max(line.heldUntil, now() + (isMoving ? 0 : count <= behind.few ? behind.shortMs : behind.waitMs));
    },

    leave(service: string, slot: Slot): void {
      add(inAir[slot.pool] as Map<string, number>, slot.tenantId, -1);
      if (slot.isDoubted) countDoubted(slot, -1);
      const line = health.lineOf(service, slot.pool);
      line.busy -= 1;
      line.movedAt = now();
    },

    isTrusted: health.isTrusted,
    noteAnswer: health.noteAnswer,
    noteFailure: health.noteFailure,
  };
}

/** Counts, and forgets what has come to nothing. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
