export interface RetrySchedule {
  delaysMs: readonly number[];
  /** Adds up to this part of the wait, so that deliveries that failed together are not retried together. */
  jitter?: number;
  /** Whether the last wait is repeated; otherwise, there is one last attempt after it. */
  repeatsLast?: boolean;
}

/** Milliseconds until the next attempt; null when the schedule ends. @param attempts how many were made, at least 1. */
export function retryDelayMs(
  { delaysMs, jitter = 0, repeatsLast = false }: RetrySchedule,
  attempts: number,
  retryAfterMs = 0,
): number | null {
  const delay = delaysMs[repeatsLast ? Math.min(attempts, delaysMs.length) - 1 : attempts - 1];
  return delay === undefined ? null : Math.max(Math.round(delay * (1 + Math.random() * jitter)), retryAfterMs);
}
