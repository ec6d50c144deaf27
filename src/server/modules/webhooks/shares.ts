/**
 * Sends at once: to one receiver that answers quickly, for one store, and in each of the two pools. Both together leave
 * much of Bun's 256 requests at once to a database that is asked by HTTP.
 */
export const most = { each: 4, tenant: 32, pool: 64 };
/** A receiver that takes longer to answer is slow. */
const slowMs = 2000;
/** How long a receiver that is down is left alone: doubled with each failure in a row, up to the second. */
const holdMs = { first: 5000, longest: 60_000 };

/** A webhook that has something due. */
export interface ReadyWebhook {
  id: string;
  tenant_id: string;
}

/** Permission to send one message; to be given back. */
export interface Slot extends ReadyWebhook {
  pool: Pool;
}

type Pool = "quick" | "other";

/** What the last attempts have shown of a receiver; nothing is kept of one that was not tried yet. */
interface Health {
  isFailing: boolean;
  isSlow: boolean;
  /** How often in a row it was down. */
  failures: number;
  /** Epoch milliseconds. */
  heldUntil: number;
}

/**
 * Who may send next. Receivers that answer quickly have a pool for themselves, so that all others together, failing,
 * slow or not tried yet, cannot take their slots; those get one message at a time. Webhooks take turns, stores that send
 * least come first, and a receiver that is down is left alone as a whole: what waits for it takes no slot.
 */
export function createShares(now: () => number) {
  const health = new Map<string, Health>();
  /** In the order of their turns. */
  const asking = new Map<string, ReadyWebhook>();
  const busy = new Map<string, number>();
  const pools = { quick: new Map<string, number>(), other: new Map<string, number>() };
  const totals = { quick: 0, other: 0 };

  const poolOf = (id: string): Pool => {
    const known = health.get(id);
    return known && !known.isFailing && !known.isSlow ? "quick" : "other";
  };
  const isHeld = (id: string): boolean => (health.get(id)?.heldUntil ?? 0) > now();

  /** Lowest first: quick ones, then those that nothing is known of; among them stores by what they send now. */
  function rankOf({ id, tenant_id }: ReadyWebhook, pool: Pool): number {
    const group = pool === "quick" ? 0 : health.has(id) ? 2 : 1;
    return group * (most.tenant + 1) + (pools[pool].get(tenant_id) ?? 0);
  }

  function mayHave({ id, tenant_id }: ReadyWebhook, pool: Pool): boolean {
    if ((busy.get(id) ?? 0) >= (pool === "quick" ? most.each : 1)) return false;
    return totals[pool] < most.pool && (pools[pool].get(tenant_id) ?? 0) < most.tenant;
  }

  return {
    /** Puts a webhook at the end of those that wait for a turn, unless it is among them or held back. */
    ask(webhook: ReadyWebhook): void {
      if (!asking.has(webhook.id) && !isHeld(webhook.id)) asking.set(webhook.id, webhook);
    },

    /** The slot of whoever's turn it is, who has to ask for the next one; undefined when nobody can have one now. */
    take(): Slot | undefined {
      let chosen: Slot | undefined;
      let lowest = Number.POSITIVE_INFINITY;
      for (const webhook of asking.values()) {
        const { id, tenant_id } = webhook;
        if (isHeld(id)) asking.delete(id);
        const pool = poolOf(id);
        const rank = rankOf(webhook, pool);
        if (isHeld(id) || rank >= lowest || !mayHave(webhook, pool)) continue;
        lowest = rank;
        chosen = { id, tenant_id, pool };
      }
      if (!chosen) return undefined;
      asking.delete(chosen.id);
      count(chosen, 1);
      return chosen;
    },

    /** Gives a slot back. */
    release(slot: Slot): void {
      count(slot, -1);
    },

    /** Notes a success, and how long the answer took. Answers whether the receiver failed before. */
    noteSuccess(id: string, tookMs: number): boolean {
      const wasFailing = health.get(id)?.isFailing === true;
      health.set(id, { isFailing: false, isSlow: tookMs >= slowMs, failures: 0, heldUntil: 0 });
      return wasFailing;
    },

    /**
     * Notes a failure. Answers whether it is the first since the last success.
     * @param isDown whether the next message would fare no better; then the webhook is held back as a whole.
     * @param waitMs how long the receiver asks to be left alone, 0 if it does not.
     */
    noteFailure(id: string, { isDown, waitMs }: { isDown: boolean; waitMs: number }): boolean {
      const before = health.get(id);
      const failures = before?.failures ?? 0;
      const next = { isFailing: true, isSlow: false, failures, heldUntil: before?.heldUntil ?? 0 };
      // What failed at the same time counts once.
      if (isDown && next.heldUntil <= now()) {
        next.heldUntil = now() + Math.min(holdMs.first * 2 ** failures, holdMs.longest);
        next.failures = Math.min(failures + 1, 10);
      }
      if (isDown) next.heldUntil = Math.max(next.heldUntil, now() + waitMs);
      health.set(id, next);
      return before?.isFailing !== true;
    },
  };

  function count({ id, tenant_id, pool }: Slot, by: 1 | -1): void {
    add(busy, id, by);
    add(pools[pool], tenant_id, by);
    totals[pool] += by;
  }
}

/** Counts, and forgets what has come to nothing. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
