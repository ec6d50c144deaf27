import type { Database, Session } from "../../db/session.ts";
import { isExhausted, type RetrySchedule, retryDelayMs } from "../../delivery/backoff.ts";
import type { Answer, Attempt, Channel } from "../../delivery/channel.ts";
import { DeliveryEngine } from "../../delivery/engine.ts";
import { type Lookup, lookupAddresses, resolveAddresses } from "../../delivery/outbound/address.ts";
import { describeStatus, isDown, LostSecret, readRetryAfter } from "../../delivery/outbound/attempt-failure.ts";
import { postMessage } from "../../delivery/outbound/post.ts";
import { startPolling } from "../../delivery/poller.ts";
import type { SchedulerPolicy } from "../../delivery/scheduler.ts";
import type { Vault } from "../../security/vault.ts";
import { fanOut } from "./fan-out.ts";
import {
  claimDelivery,
  type DeliveryTask,
  listReady,
  recordDelivered,
  recordFailed,
  releaseDeliveries,
  reschedule,
} from "./queue.ts";
import { signatureHeaders } from "./signature.ts";

/** About a day in all. */
export const schedule: RetrySchedule = {
  delaysMs: [5, 30, 120, 600, 1800, 3600, 7200, 10_800, 14_400, 21_600, 28_800].map((seconds) => seconds * 1000),
  jitter: 0.2,
};
/** However long a delivery waited behind an open circuit, it is not tried later than this. */
const maxAgeMs = 3 * 86_400_000;
const attemptMs = 10_000;

/**
 * Receivers that answer quickly get up to four messages at once, all others one. The total leaves much of Bun's 256 requests
 * at once to a database that is asked by HTTP.
 */
export const webhookPolicy: SchedulerPolicy = {
  pools: 1,
  permits: { total: 128, tenant: 48, receiver: 4 },
  untrusted: { total: 64, tenant: 32, receiver: 1 },
  batch: 1,
  circuits: {
    opensAfter: { failed: 1, silent: 1 },
    maxScore: 1,
    scoreLostBy: "failure",
    maxRetryAfterMs: Number.POSITIVE_INFINITY,
  },
};

export interface WebhookDeps {
  db: Session;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  /** Tells operators that a receiver fails, that it works again, or that a delivery has failed for good. */
  notice?: ((level: "info" | "warn", message: string) => void) | undefined;
  /** How long an attempt may take, in milliseconds. */
  timeoutMs?: number;
  lookup?: Lookup;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
}

/** Sends events to webhooks for as long as a server runs. */
export function startWebhookDelivery(deps: WebhookDeps & { db: Database }): { stop(): Promise<void> } {
  return startPolling(deps.db, createWebhookEngine(deps), () =>
    deps.notice?.("warn", "the database does not answer; webhook events wait"),
  );
}

/** An engine that sends the events of all stores to their webhooks. */
export function createWebhookEngine(deps: WebhookDeps): DeliveryEngine<DeliveryTask> {
  const { notice = () => {} } = deps;
  const failing = new Set<string>();
  async function fail(task: DeliveryTask, answer: { status: number | null; error: string | null }): Promise<void> {
    await recordFailed(deps, task, answer);
    notice("warn", `delivery ${task.id} to webhook ${task.webhook_id} failed: ${answer.error}`);
  }
  const channel: Channel<DeliveryTask> = {
    createDeliveries: (isStopping) => fanOut(deps, isStopping),
    listReady: () => listReady(deps),
    async claim({ key }) {
      const task = await claimDelivery(deps, key);
      return task ? [task] : [];
    },
    release: (claims) => releaseDeliveries(deps, claims),
    async prepare(task) {
      if (!isExhausted(schedule, task.attempts) && task.event_id !== null)
        return createAttempt(task, task.event_id, deps);
      const error = task.event_id === null ? "the event was purged" : "every attempt was interrupted";
      await fail(task, { status: null, error });
      return null;
    },
    nextAttemptAt({ attempts, created_at }, { retryAfterMs }) {
      const delay = retryDelayMs(schedule, attempts, retryAfterMs);
      return delay === null || deps.now() - Date.parse(created_at) > maxAgeMs ? null : deps.now() + delay;
    },
    recordDelivered: (task, answer) => recordDelivered(deps, task, answer),
    reschedule: (task, next, answer) => reschedule(deps, task, next, answer),
    end: fail,
    notify({ webhook_id: id }, { result, error }) {
      if (result === "accepted" && failing.delete(id)) notice("info", `webhook ${id} accepts events again`);
      if (result === "accepted" || failing.has(id)) return;
      failing.add(id);
      notice("warn", `events wait for webhook ${id}: ${error}`);
    },
  };
  return new DeliveryEngine(channel, { policy: webhookPolicy, now: deps.now });
}

function createAttempt(task: DeliveryTask, eventId: string, deps: WebhookDeps): Attempt {
  return {
    receiver: task.webhook_id,
    target: task.webhook_id,
    timeoutMs: deps.timeoutMs ?? attemptMs,
    send: (signal) => send(task, eventId, deps, signal),
  };
}

async function send(task: DeliveryTask, id: string, deps: WebhookDeps, signal: AbortSignal): Promise<Answer> {
  const secret = deps.vault.open("webhook", task.webhook_id, task.secret);
  if (secret === null) {
    throw new LostSecret("its secret was sealed with another key; make a new one: bodega webhook rotate");
  }
  const { type, subject, event_at: created_at, namespace } = task;
  const body = JSON.stringify({ id, type, subject, data: JSON.parse(task.data), created_at, namespace });
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Bodega-Webhooks",
    ...signatureHeaders(secret, id, deps.now(), body),
  };
  const url = new URL(task.url);
  const addresses = await resolveAddresses(url, task.allow_private === 1, deps.lookup ?? lookupAddresses);
  const answer = await postMessage({ url, addresses, headers, body, signal, ca: deps.ca });
  const { status, closed } = answer;
  const retryAfterMs = readRetryAfter(answer, deps.now());
  if (status >= 200 && status < 300) return { result: "accepted", status, error: null, retryAfterMs, closed };
  const result = isDown(status) ? "failed" : "refused";
  return { result, isFinal: status === 410, status, error: describeStatus(status), retryAfterMs, closed };
}
