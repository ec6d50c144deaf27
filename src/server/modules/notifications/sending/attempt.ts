import { TimedOut } from "../../../delivery/outbound/attempt-failure.ts";
import { composePayload } from "../messages/compose.ts";
import type { PushAnswer } from "../providers/provider.ts";
import type { PushTask } from "./due.ts";
import type { Route } from "./route.ts";

const maxTopic = 32;
/** Waits between attempts; the last of them is repeated for as long as the message is of use. */
const delaysMs = [5, 30, 120, 600, 1800, 3600].map((seconds) => seconds * 1000);
/** Waits are longer by up to this part, so that what failed together does not come again together. */
const jitter = 0.2;
/** Where a service takes no more at once, its next one waits so long. */
const crowdedMs = 1000;
/** What waits for a service that is left alone comes within so long after that. */
const spreadMs = 10_000;
/** Where neither the device nor its service has ever taken anything, the first attempt may take this part of the time. */
const hurried = 0.4;

/** Whom a push service is told to write to where nobody is named: it asks for an address, whatever it is. */
const anybody = "mailto:push@store.invalid";

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
  const topic = isOrder && payload.tag !== undefined && payload.tag.length <= maxTopic ? payload.tag : undefined;
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
function contactOf({ store_url: url }: PushTask): string {
  return url?.startsWith("https://") && URL.canParse(url) ? url : anybody;
}

/** How long an attempt may take, of `timeoutMs`: strangers may have registered what never answers. */
export function timeOf({ attempts }: PushTask, isUnknown: boolean, timeoutMs: number): number {
  return isUnknown && attempts === 1 ? timeoutMs * hurried : timeoutMs;
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
  const spread = Math.min(held + crowdedMs, spreadMs);
  return now + held + Math.round(spread * Math.random()) + (held === 0 ? crowdedMs : 0);
}
