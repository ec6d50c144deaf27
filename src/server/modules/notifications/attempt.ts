import { TimedOut } from "../../outbound/attempt-failure.ts";
import { composePayload } from "./compose.ts";
import type { PushTask } from "./due.ts";
import type { PushAnswer, PushProvider } from "./provider.ts";
import type { Target } from "./target.ts";

const mostTopic = 32;
/** Waits between attempts; the last of them is repeated for as long as the message is of use. */
const delaysMs = [5, 30, 120, 600, 1800, 3600].map((seconds) => seconds * 1000);
/** Waits are longer by up to this part, so that what failed together does not come again together. */
const jitter = 0.2;
/** Where a service takes no more at once, its next one waits so long. */
const crowdedMs = 1000;

/** Who sends a delivery, and where to. */
export interface Route {
  provider: PushProvider;
  target: Target;
  /** What answers there: its platform and host. */
  service: string;
}

/**
 * Makes one attempt.
 * @param breaker ends it; so does the time.
 * @throws the breaker's reason, `TimedOut`, or what the provider throws.
 */
export async function attemptPush(
  task: PushTask,
  { provider, target }: Route,
  options: { now: number; contact: string | undefined; timeoutMs: number; breaker: AbortController },
): Promise<PushAnswer> {
  const { now, contact, timeoutMs, breaker } = options;
  const { signal } = breaker;
  const timer = setTimeout(() => breaker.abort(new TimedOut(timeoutMs)), timeoutMs);
  const payload = composePayload(task);
  const isOrder = task.kind === "order";
  // Of an order's states only the last one is worth waiting for a device that is off.
  const topic = isOrder && payload.tag !== undefined && payload.tag.length <= mostTopic ? payload.tag : undefined;
  try {
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const delivered = provider.deliver(target, payload, {
      ttlSeconds: Math.max(1, Math.floor((Date.parse(task.expires_at) - now) / 1000)),
      urgency: isOrder ? "high" : "normal",
      topic,
      contact: contact ?? contactOf(task),
      signal,
    });
    // A resolver that hangs is not ended by the signal.
    return await Promise.race([delivered, aborted]);
  } finally {
    clearTimeout(timer);
  }
}

/** The store's page, where there is one that a push service takes; some refuse a message that names nobody. */
function contactOf({ store_url: url, tenant_id: id }: PushTask): string {
  return url?.startsWith("https://") && URL.canParse(url) ? url : `mailto:${id}@push.invalid`;
}

/** When a delivery is tried again, in epoch milliseconds; null when it is of no use any more by then. */
export function nextAttempt({ attempts, expires_at }: PushTask, now: number, waitMs: number): number | null {
  const delay = delaysMs[Math.min(attempts, delaysMs.length) - 1] as number;
  const next = now + Math.max(Math.round(delay * (1 + Math.random() * jitter)), waitMs);
  return next < Date.parse(expires_at) ? next : null;
}

/** When a delivery is looked at again that could not be sent: soon where there was no room, spread where all wait. */
export function nextTry(heldUntil: number, now: number): number {
  const held = Math.max(heldUntil - now, 0);
  return now + held + Math.round((held + crowdedMs) * Math.random()) + (held === 0 ? crowdedMs : 0);
}
