import type { Config } from "../../../config/config.ts";
import type { Database } from "../../../db/session.ts";
import { type Attempt, type Channel, type ChannelDeps, retryDelayMs } from "../../../delivery/channel.ts";
import type { DeadEnd } from "../../../delivery/claim.ts";
import { DeliveryEngine } from "../../../delivery/engine.ts";
import { RefusedAddress } from "../../../delivery/outbound.ts";
import type { SchedulerPolicy } from "../../../delivery/scheduler.ts";
import { parseFromAddress } from "../../../values/email.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { composePayload } from "../messages/compose.ts";
import { notSent, openTarget, type SendPush } from "../providers/provider.ts";
import { ensureVapidKeys } from "../providers/vapid.ts";
import { createWebPush } from "../providers/web-push.ts";
import { bindRegistration, fanOut, listReady, type PushTask, pushQueue } from "./queue.ts";

/** The pauses between attempts. The last one is repeated. */
const delaysMs = [5, 30, 120, 600, 1800, 3600].map((seconds) => seconds * 1000);
/** These services are trusted from the start, because strangers cannot make them keep connections open. */
const wellKnown =
  /^(?:fcm\.googleapis\.com|(?:[a-z0-9-]+\.)*(?:push\.services\.mozilla|push\.apple|notify\.windows)\.com)$/;

export const pushPolicy: SchedulerPolicy = {
  permits: { total: 32, tenant: 24, receiver: 32 },
  untrusted: { total: 12, receiver: 6 },
  batch: 8,
  ...{ opensAfter: 3, maxRetryAfterMs: 60_000, isWellKnown: (service) => wellKnown.test(service) },
};

export function createPushEngine(deps: PushDeps): DeliveryEngine<PushTask> {
  const { notice = () => {} } = deps;
  const channel: Channel<PushTask> = {
    queue: pushQueue,
    createDeliveries: () => fanOut(deps),
    listReady: () => listReady(deps),
    prepare: (task) => prepareAttempt(task, deps),
    nextAttemptAt({ attempts, expiresAt }, { retryAfterMs }) {
      const next = deps.now() + (retryDelayMs(delaysMs, Math.min(attempts, delaysMs.length), retryAfterMs) as number);
      return next < Date.parse(expiresAt) ? next : "expired";
    },
    alsoRecord: (task, answer) => bindRegistration(deps, task, answer),
    notify(task, { error }, circuit, service) {
      if (circuit === "closed") notice("info", `${service} accepts push notifications again`);
      // Strangers can choose the host of an endpoint, so failures of unproven endpoints are not reported.
      if (circuit === "opened" && task.isProven) {
        notice("warn", `push notifications to ${service} stay queued: ${error}`);
      }
    },
  };
  return new DeliveryEngine(channel, { ...deps, policy: pushPolicy });
}

/** Starts sending push notifications until the server stops. Several servers may send at once. */
export function startPushDelivery(
  config: Pick<Config, "publicUrl" | "mailFrom" | "allowPrivatePush">,
  deps: ChannelDeps & { db: Database },
): { stop(): Promise<void> } {
  const { allowPrivatePush: allowPrivate, publicUrl, mailFrom } = config;
  const { now } = deps;
  const readKeys = () => ensureVapidKeys(deps);
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  // The contact for push services (RFC 8292): the server's public URL, otherwise the sender of its mail.
  const contact = publicUrl?.startsWith("https://") ? publicUrl : ((from && `mailto:${from.address}`) ?? undefined);
  const sendPush = createWebPush({ readKeys, now, allowPrivate, contact });
  return createPushEngine({ ...deps, sendPush }).start(deps.db, "push notifications stay queued");
}

const attemptMs = 10_000;
export interface PushDeps extends ChannelDeps {
  sendPush: SendPush;
  timeoutMs?: number;
}

const drop = (error: string): DeadEnd => ({ outcome: "dropped", error });

function prepareAttempt(task: PushTask, deps: PushDeps): Attempt | DeadEnd {
  const { registrationId: id } = task;
  if (task.expiresAt <= toTimestamp(deps.now())) return { outcome: "expired", error: null };
  if (id === null || task.target === null) return drop("the registration was removed");
  if (!task.isTheirs) return drop("the device no longer belongs to the user");
  const target = openTarget(deps.vault, id, task.target);
  if (!target) return drop("the registration was encrypted with another key");
  if (!("endpoint" in target)) return { outcome: "failed", error: notSent };
  return {
    receiver: new URL(target.endpoint).host,
    target: id,
    timeoutMs: deps.timeoutMs ?? attemptMs,
    async send(signal) {
      const payload = composePayload(task);
      const isOrder = task.kind === "order";
      try {
        return await deps.sendPush(target, payload, {
          ttlSeconds: Math.max(1, Math.floor((Date.parse(task.expiresAt) - deps.now()) / 1000)),
          urgency: isOrder ? "high" : "normal",
          // With a topic, a device that was off gets only the newest state of an order.
          topic: isOrder ? payload.tag : undefined,
          signal,
        });
      } catch (error) {
        // A RefusedAddress is an endpoint outside the public internet, so the message is not sent again.
        if (!(error instanceof RefusedAddress)) throw error;
        return { result: "refused", isFinal: true, status: null, error: error.message, retryAfterMs: 0 };
      }
    },
  };
}
