/** When failed deliveries are tried again. */
export interface RetrySchedule {
  /** Waits after the first, second, … attempt. */
  delaysMs: readonly number[];
  /** Waits are longer by up to this part, so that deliveries that failed together do not come back together. */
  jitter?: number;
  /** Whether the last wait repeats; otherwise one attempt follows it, and no more. */
  repeatsLast?: boolean;
}

/** A delivery waits this long where its receiver has no room, and deliveries to an open circuit return within `spreadMs`. */
const noRoomMs = 1000;
const spreadMs = 10_000;

/**
 * How long to wait before the next attempt, in milliseconds; null when the schedule ends.
 * @param attempts how many were made, at least 1.
 * @param retryAfterMs the least that the receiver asks for, 0 if it does not.
 */
export function retryDelayMs(
  { delaysMs, jitter = 0, repeatsLast = false }: RetrySchedule,
  attempts: number,
  retryAfterMs = 0,
): number | null {
  const delay = delaysMs[repeatsLast ? Math.min(attempts, delaysMs.length) - 1 : attempts - 1];
  return delay === undefined ? null : Math.max(Math.round(delay * (1 + Math.random() * jitter)), retryAfterMs);
}

/** Whether a claim counts more attempts than the schedule allows: each was interrupted, or ended its process. */
export function isExhausted({ delaysMs }: RetrySchedule, attempts: number): boolean {
  return attempts > delaysMs.length + 1;
}

/**
 * When to claim a delivery again that had no room, in epoch milliseconds: soon where permits are short, spread out after
 * an open circuit.
 */
export function nextClaimAt(openUntil: number, now: number): number {
  const openMs = Math.max(openUntil - now, 0);
  const spread = Math.min(openMs + noRoomMs, spreadMs);
  return now + openMs + Math.round(spread * Math.random()) + (openMs === 0 ? noRoomMs : 0);
}
