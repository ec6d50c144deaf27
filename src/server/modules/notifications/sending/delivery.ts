import type { Config } from "../../../config/config.ts";
import type { Database } from "../../../db/session.ts";
import { type RetrySchedule, retryDelayMs } from "../../../delivery/backoff.ts";
import type { Channel, ChannelDeps } from "../../../delivery/channel.ts";
import { DeliveryEngine } from "../../../delivery/engine.ts";
import { startPolling } from "../../../delivery/poller.ts";
import type { SchedulerPolicy } from "../../../delivery/scheduler.ts";
import { parseFromAddress } from "../../../values/email.ts";
import { createProviders, noProvider } from "../providers/providers.ts";
import { ensureVapidKeys } from "../providers/vapid.ts";
import { type PushDeps, prepareAttempt } from "./attempt.ts";
import { fanOut, isUnproven, pools } from "./fan-out.ts";
import { claimPushes, listReady, type PushTask, pushClaims, recordGone, recordSent } from "./queue.ts";

/** The last wait repeats until the message expires. */
const schedule: RetrySchedule = {
  delaysMs: [5, 30, 120, 600, 1800, 3600].map((seconds) => seconds * 1000),
  jitter: 0.2,
  repeatsLast: true,
};
/**
 * The push services of the common browsers and devices. They are trusted from the start, because strangers cannot make
 * them keep connections open.
 */
const wellKnown =
  /^(?:ios|android|web (?:fcm\.googleapis\.com|(?:[a-z0-9-]+\.)*(?:push\.services\.mozilla|push\.apple|notify\.windows)\.com))$/;

export const pushPolicy: SchedulerPolicy = {
  pools: pools.length,
  permits: { total: 32, tenant: 24, receiver: 24 },
  untrusted: { total: 12, tenant: 8, receiver: 6 },
  batch: 8,
  circuits: {
    opensAfter: { failed: 5, silent: 3 },
    maxScore: 3,
    scoreLostBy: "silence",
    maxRetryAfterMs: 60_000,
    isWellKnown: (service) => wellKnown.test(service),
    isSuspect: isUnproven,
  },
};

export function createPushEngine(deps: PushDeps): DeliveryEngine<PushTask> {
  const { notice = () => {} } = deps;
  const missing = new Set<string>();
  function noticeMissing(error: string): void {
    if (!missing.has(error)) notice("warn", error);
    missing.add(error);
  }
  const channel: Channel<PushTask> = {
    createDeliveries: (isStopping) => fanOut(deps, isStopping),
    listReady: () => listReady(deps),
    claim: (source, max) => claimPushes(deps, source, max),
    release: (claims) => deps.db.execute(pushClaims.released(claims)),
    async prepare(task, { pool }) {
      const attempt = prepareAttempt(task, pool, deps);
      if (!("outcome" in attempt)) return attempt;
      const { outcome, error } = attempt;
      if (error !== null && error === noProvider[task.platform]) noticeMissing(error);
      await deps.db.execute(pushClaims.ended(deps, task, { outcome, status: null, error }));
      return null;
    },
    nextAttemptAt({ attempts, expires_at }, { retryAfterMs }) {
      const next = deps.now() + (retryDelayMs(schedule, attempts, retryAfterMs) as number);
      return next < Date.parse(expires_at) ? next : null;
    },
    recordDelivered: (task, answer) => recordSent(deps, task, answer),
    reschedule: (task, next, answer) => deps.db.execute(pushClaims.postponed(task, next, answer)),
    end: (task, answer) =>
      answer.isGone
        ? recordGone(deps, task, answer)
        : deps.db.execute(pushClaims.ended(deps, task, { ...answer, outcome: answer.isFinal ? "failed" : "expired" })),
    notify(_task, { error }, change) {
      if (change?.circuit === "closed") notice("info", `${change.receiver} accepts push notifications again`);
      // Strangers choose the hosts of browsers, so these are not reported.
      if (change?.circuit === "opened" && !(isUnproven(change.pool) && change.receiver.startsWith("web "))) {
        notice("warn", `push notifications to ${change.receiver} stay queued: ${error}`);
      }
    },
    async close() {
      await Promise.all(Object.values(deps.providers).map((provider) => provider.stop?.()));
    },
  };
  return new DeliveryEngine(channel, { ...deps, policy: pushPolicy });
}

/** Sends push notifications for as long as a server runs. Any number of servers may do so at once. */
export function startPushDelivery(
  config: Pick<Config, "publicUrl" | "mailFrom" | "allowPrivatePush" | "pushProviders">,
  deps: ChannelDeps & { db: Database },
): { stop(): Promise<void> } {
  const { allowPrivatePush: allowPrivate, pushProviders: accounts } = config;
  const readKeys = () => ensureVapidKeys(deps);
  const providers = createProviders({ accounts, readKeys, now: deps.now, allowPrivate });
  const engine = createPushEngine({ ...deps, providers, contact: contactOf(config) });
  return startPolling(deps, engine, "push notifications stay queued");
}

/** The contact for push services (RFC 8292): the server's public URL, otherwise the sender of its mail. */
function contactOf({ publicUrl, mailFrom }: Pick<Config, "publicUrl" | "mailFrom">): string | undefined {
  if (publicUrl?.startsWith("https://")) return publicUrl;
  const from = mailFrom === undefined ? null : parseFromAddress(mailFrom);
  return from === null ? undefined : `mailto:${from.address}`;
}
