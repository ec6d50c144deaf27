import type { PushPlatform } from "../../../config/push-config.ts";
import type { Answer, Attempt, ChannelDeps } from "../../../delivery/channel.ts";
import { RefusedAddress } from "../../../delivery/outbound/address.ts";
import { describeFailure, isDown } from "../../../delivery/outbound/attempt-failure.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { composePayload } from "../messages/compose.ts";
import { openTarget, type PushProvider, type Target } from "../providers/provider.ts";
import { noProvider } from "../providers/providers.ts";
import { isUnproven } from "./fan-out.ts";
import type { PushTask } from "./queue.ts";

const attemptMs = 10_000;
const maxTopic = 32;
/** The first attempt gets this part of the timeout when neither the registration nor its service has ever accepted a message. */
const hurried = 0.4;
/** Push services require a contact address; this one is sent where none is configured. */
const noContact = "mailto:push@store.invalid";

export interface PushDeps extends ChannelDeps {
  /** By platform; nothing is sent to a platform without one. */
  providers: Partial<Record<PushPlatform, PushProvider>>;
  /** Address that push services may write to; the store's own page where it is undefined. */
  contact?: string | undefined;
  timeoutMs?: number;
}

interface DeadEnd {
  outcome: "failed" | "dropped" | "expired";
  error: string | null;
}

const drop = (error: string): DeadEnd => ({ outcome: "dropped", error });

/** Prepares an attempt to send a delivery, or says why it cannot be sent. @param pool of its permit. */
export function prepareAttempt(task: PushTask, pool: number, deps: PushDeps): Attempt | DeadEnd {
  const { platform, registration_id: id } = task;
  if (task.expires_at <= toTimestamp(deps.now())) return { outcome: "expired", error: null };
  if (id === null || task.target === null) return drop("the registration was removed");
  if (task.is_theirs === 0) return drop("the device no longer belongs to the user");
  if (task.is_welcome === 0) return drop("the device's user is disabled");
  const provider = deps.providers[platform];
  if (!provider) return { outcome: "failed", error: noProvider[platform] };
  const target = openTarget(deps.vault, id, task.target);
  if (!target) return drop("the registration was sealed with another key");
  const { timeoutMs = attemptMs } = deps;
  return {
    receiver: `${platform} ${provider.serviceOf?.(target) ?? ""}`.trim(),
    target: id,
    timeoutMs,
    untrustedTimeoutMs: isUnproven(pool) && task.attempts === 1 ? timeoutMs * hurried : timeoutMs,
    send: (signal) => send(task, { provider, target, signal }, deps),
    explain,
  };
}

async function send(
  task: PushTask,
  { provider, target, signal }: { provider: PushProvider; target: Target; signal: AbortSignal },
  { now, contact }: PushDeps,
): Promise<Answer> {
  const payload = composePayload(task);
  const isOrder = task.kind === "order";
  // A device that is off later gets only the last state of an order.
  const topic = isOrder && payload.tag !== undefined && payload.tag.length <= maxTopic ? payload.tag : undefined;
  const { store_url: url } = task;
  const delivered = provider.deliver(target, payload, {
    ttlSeconds: Math.max(1, Math.floor((Date.parse(task.expires_at) - now()) / 1000)),
    urgency: isOrder ? "high" : "normal",
    topic,
    // Some services refuse a message without a contact.
    contact: contact ?? (url?.startsWith("https://") && URL.canParse(url) ? url : noContact),
    signal,
  });
  const { status, isGone, error, retryAfterMs } = await delivered;
  if (error === null) return { result: "accepted", status, error, retryAfterMs };
  const isFinal = isGone || !isDown(status);
  return { result: isFinal ? "refused" : "failed", isFinal, isGone, status, error, retryAfterMs };
}

/** An endpoint that is not on the public internet is not retried. */
function explain(error: unknown): Answer {
  const isFinal = error instanceof RefusedAddress;
  return {
    result: isFinal ? "refused" : "failed",
    isFinal,
    status: null,
    error: describeFailure(error),
    retryAfterMs: 0,
  };
}
