import { eq, sql } from "drizzle-orm";
import { pick } from "../../db/selection.ts";
import { all, param, statement } from "../../db/statement.ts";
import { type Answer, type Channel, type ChannelDeps, retryDelayMs } from "../../delivery/channel.ts";
import { type Claim, createQueue, isDue } from "../../delivery/claim.ts";
import { DeliveryEngine } from "../../delivery/engine.ts";
import {
  DeliveryFailure,
  isDown,
  type Lookup,
  type PostAnswer,
  postMessage,
  readRetryAfter,
} from "../../delivery/outbound.ts";
import type { SchedulerPolicy } from "../../delivery/scheduler.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { events } from "../events/table.ts";
import { tenants } from "../tenants/table.ts";
import { fanOut, ofEvent } from "./deliveries.ts";
import { signatureHeaders } from "./service.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const delays = [5, 30, 120, 600, 1800, 3600, 7200, 10_800, 14_400, 21_600, 28_800];
export const delaysMs = delays.map((seconds) => seconds * 1000);
/** Maximum age of a delivery. An older delivery is not attempted, even if an open circuit breaker delayed it. */
const maxAgeMs = 3 * 86_400_000;
export const attemptMs = 10_000;

/** Quick receivers get up to four messages at once, other receivers get one. Bun sends at most 256 requests at once. */
export const webhookPolicy: SchedulerPolicy = {
  permits: { total: 128, tenant: 48, receiver: 4 },
  untrusted: { total: 64, receiver: 1 },
  batch: 4,
  opensAfter: 1,
  maxRetryAfterMs: Number.POSITIVE_INFINITY,
};

const ready = pick(webhooks, "id", "tenantId");
const isReady = sql`${tenants.status} = 'active'
  and exists(select 1 from ${webhookDeliveries} where webhook_id = ${webhooks.id} and ${isDue})`;
const selectReady = statement((q) => {
  const active = q.select(ready).from(webhooks).innerJoin(tenants, eq(tenants.id, webhooks.tenantId));
  return active.where(isReady).orderBy(webhooks.id);
});
const which = sql`
  select id from ${webhookDeliveries} where webhook_id = ${param("key")} and ${isDue}
    order by next_attempt_at, event limit ${param("max")}`;
const claimed = {
  ...pick(webhookDeliveries, "id", "webhookId", "attempts", "createdAt"),
  ...pick(webhooks, "url", "secret", "allowPrivate"),
  // Null after the event was purged.
  eventId: events.id,
  body: sql<string>`json_object('id', ${events.id}, 'type', ${events.type}, 'subject', ${events.subject},
    'data', json(${events.data}), 'created_at', ${events.createdAt}, 'namespace', ${tenants.namespace})`,
};
const isClaimed = sql`${webhookDeliveries.id} in (select value from json_each(${param("ids")}))`;
const read = statement((q) => {
  const deliveries = q.select(claimed).from(webhookDeliveries).leftJoin(events, ofEvent).where(isClaimed);
  const known = deliveries.innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhookId));
  return known.innerJoin(tenants, eq(tenants.id, webhookDeliveries.tenantId));
});
const queue = createQueue(webhookDeliveries, { which, read, delivered: "delivered" });

type DeliveryTask = NonNullable<(typeof read)["row"]> & Claim;

export interface WebhookDeps extends ChannelDeps {
  timeoutMs?: number;
  lookup?: Lookup;
  ca?: string;
}

export function createWebhookEngine(deps: WebhookDeps): DeliveryEngine<DeliveryTask> {
  const { notice = () => {} } = deps;
  const failing = new Set<string>();
  const channel: Channel<DeliveryTask> = {
    queue,
    maxAttempts: delaysMs.length + 1,
    createDeliveries: () => fanOut(deps),
    async listReady() {
      const rows = await all(deps.db, selectReady, { now: toTimestamp(deps.now()) });
      return rows.map(({ id, tenantId }) => ({ key: id, tenantId, receiver: id }));
    },
    prepare(task) {
      const { webhookId: id, eventId } = task;
      if (eventId === null) return { outcome: "failed", error: "the event was purged" };
      const send = (signal: AbortSignal) => sendEvent(task, eventId, deps, signal);
      return { receiver: id, target: id, timeoutMs: deps.timeoutMs ?? attemptMs, send };
    },
    nextAttemptAt({ attempts, createdAt }, { retryAfterMs }) {
      const delay = retryDelayMs(delaysMs, attempts, retryAfterMs);
      const isOld = deps.now() - Date.parse(createdAt) > maxAgeMs;
      return delay === null || isOld ? "failed" : deps.now() + delay;
    },
    describe: ({ id, webhookId }) => `delivery ${id} to webhook ${webhookId}`,
    notify({ webhookId: id }, { result, error }) {
      if (result === "accepted" && failing.delete(id)) notice("info", `webhook ${id} accepts events again`);
      if (result === "accepted" || failing.has(id)) return;
      failing.add(id);
      notice("warn", `webhook ${id} fails and its events stay queued: ${error}`);
    },
  };
  return new DeliveryEngine(channel, { ...deps, policy: webhookPolicy });
}

/** Signs an event and posts it. Errors: DeliveryFailure, errors of the connection. */
export function postEvent(
  { webhookId, url, secret: sealed, allowPrivate }: Pick<DeliveryTask, "webhookId" | "url" | "secret" | "allowPrivate">,
  { id, body }: { id: string; body: string },
  { vault, now, lookup, ca }: Pick<WebhookDeps, "vault" | "now" | "lookup" | "ca">,
  signal: AbortSignal,
): Promise<PostAnswer> {
  const secret = vault.open("webhook", webhookId, sealed);
  if (secret === null) {
    throw new DeliveryFailure("its secret was encrypted with another key; replace it: bodega webhook rotate");
  }
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Bodega-Webhooks",
    ...signatureHeaders(secret, id, now(), body),
  };
  return postMessage({ url: new URL(url), allowPrivate, headers, body, signal, lookup, ca });
}

async function sendEvent(task: DeliveryTask, id: string, deps: WebhookDeps, signal: AbortSignal): Promise<Answer> {
  const answer = await postEvent(task, { id, body: task.body }, deps, signal);
  const { status } = answer;
  const retryAfterMs = readRetryAfter(answer, deps.now());
  const error = describeStatus(status);
  if (error === null) return { result: "accepted", status, error, retryAfterMs };
  const result = isDown(status) ? "failed" : "refused";
  return { result, isFinal: status === 410, status, error, retryAfterMs };
}

/** Returns why an HTTP status is a failure; null for success. */
export function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return "410: the receiver does not exist any more";
  if (status >= 300 && status < 400) return `${status}: redirects are not followed; use the final address`;
  return `${status}: the receiver did not accept it`;
}
