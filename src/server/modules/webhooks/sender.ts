import type { Session } from "../../db/session.ts";
import { type Lookup, lookupAddresses, resolveAddresses } from "../../delivery/outbound/address.ts";
import {
  describeFailure,
  describeStatus,
  isDown,
  LostSecret,
  readRetryAfter,
  TimedOut,
} from "../../delivery/outbound/attempt-failure.ts";
import { type PostAnswer, postMessage } from "../../delivery/outbound/post.ts";
import { type DeliverySender, drainWithin } from "../../delivery/poller.ts";
import type { Vault } from "../../security/vault.ts";
import {
  type AttemptResult,
  type DeliveryTask,
  listReady,
  recordDelay,
  recordDelivered,
  recordFailed,
  returnDelivery,
  takeDelivery,
} from "./due.ts";
import { fanOut } from "./fan-out.ts";
import { createShares, type Slot } from "./shares.ts";
import { signatureHeaders } from "./signature.ts";

/** Waits between attempts, about a day in all; after the last of them there is one more attempt. */
export const delaysMs = [5, 30, 120, 600, 1800, 3600, 7200, 10_800, 14_400, 21_600, 28_800].map((s) => s * 1000);
/** Waits are longer by up to this part, so that what failed together does not come again together. */
const jitter = 0.2;
/** However long its turn takes behind a receiver that is down: later than this it is not tried again. */
const longestMs = 3 * 86_400_000;
const attemptMs = 10_000;
/** Waits between tries to note that a delivery has arrived: a note that fails means one that arrives twice. */
const noteDelaysMs = [500, 2000, 8000];

export interface WebhookSenderDeps {
  db: Session;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  /** Told what an operator should know: that a receiver fails, that it is back, that a delivery has failed for good. */
  notice?: ((level: "info" | "warn", message: string) => void) | undefined;
  /** How long an attempt may take, in milliseconds. */
  timeoutMs?: number;
  lookup?: Lookup;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
}

/** Makes the sender of a server's webhooks. Any number of them, in any number of processes, share the work. */
export function createWebhookSender(deps: WebhookSenderDeps): DeliverySender {
  const { notice = () => {}, timeoutMs = attemptMs, lookup = lookupAddresses } = deps;
  const sending = new Set<AbortController>();
  const lanes = new Set<Promise<void>>();
  const shares = createShares(deps.now);
  let attempts = 0;
  let isStopping = false;
  let isHalted = false;
  let turn: Promise<void> | undefined;
  /** Why the database could not be read or written. */
  let trouble: { error: unknown } | undefined;

  /** Starts all who can have a slot now. */
  function serve(): void {
    for (let slot = nextSlot(); slot; slot = nextSlot()) startLane(slot);
  }

  const nextSlot = () => (isStopping ? undefined : shares.take());

  function startLane(slot: Slot): void {
    const lane = sendNext(slot)
      .catch((error: unknown) => {
        trouble = { error };
      })
      .finally(() => {
        lanes.delete(lane);
        shares.release(slot);
        serve();
      });
    lanes.add(lane);
  }

  async function sendNext(slot: Slot): Promise<void> {
    const task = await takeDelivery(deps, slot.id);
    if (!task) return;
    attempts += 1;
    // There may be more; others come first.
    shares.ask(slot);
    serve();
    await attempt(task);
  }

  function throwTrouble(): void {
    if (!trouble) return;
    const { error } = trouble;
    trouble = undefined;
    throw error;
  }

  async function look(): Promise<void> {
    throwTrouble();
    // One at a time makes deliveries; who comes meanwhile only sends.
    turn ??= fanOut(deps, () => isStopping).finally(() => {
      turn = undefined;
    });
    await turn;
    if (isStopping) return;
    for (const webhook of await listReady(deps)) shares.ask(webhook);
    serve();
  }

  async function attempt(task: DeliveryTask): Promise<void> {
    if (task.attempts > delaysMs.length + 1) return end(task, { status: null, error: "every attempt was broken off" });
    if (task.event_id === null) return end(task, { status: null, error: "the event is not kept any more" });
    const { webhook_id: webhookId } = task;
    const began = performance.now();
    let answer: PostAnswer | undefined;
    let failure: AttemptResult;
    try {
      answer = await send(task, task.event_id);
      failure = { status: answer.status, error: describeStatus(answer.status) };
    } catch (error) {
      // Broken off by our own stop, it may have arrived; the receiver knows it by its id.
      if (isHalted) return returnDelivery(deps, task);
      failure = { status: null, error: describeFailure(error) };
    }
    if (answer && answer.status >= 200 && answer.status < 300) {
      const isBack = shares.noteSuccess(webhookId, performance.now() - began);
      if (isBack) notice("info", `webhook ${webhookId} takes events again`);
      await note(task, answer.status);
    } else {
      await fail(task, failure, readRetryAfter(answer, deps.now()));
    }
    await answer?.closed;
  }

  async function fail(task: DeliveryTask, failure: AttemptResult, waitMs: number): Promise<void> {
    const { webhook_id: webhookId } = task;
    const isFirst = shares.noteFailure(webhookId, { isDown: isDown(failure.status), waitMs });
    if (isFirst) notice("warn", `events wait for webhook ${webhookId}: ${failure.error}`);
    const next = nextAttempt(task, deps.now(), waitMs);
    if (failure.status === 410 || next === null) return end(task, failure);
    await recordDelay(deps, task, next, failure);
  }

  async function send(task: DeliveryTask, id: string): Promise<PostAnswer> {
    const secret = deps.vault.open("webhook", task.webhook_id, task.secret);
    if (secret === null) {
      throw new LostSecret("its secret was sealed with another key; make a new one: bodega webhook rotate");
    }
    const { type, subject, event_at: created_at, namespace } = task;
    const body = JSON.stringify({ id, type, subject, data: JSON.parse(task.data), created_at, namespace });
    const breaker = new AbortController();
    const timer = setTimeout(() => breaker.abort(new TimedOut(timeoutMs)), timeoutMs);
    sending.add(breaker);
    // Taken just before the stop, too late to be broken off with the others.
    if (isHalted) breaker.abort();
    const url = new URL(task.url);
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": "Bodega-Webhooks",
      ...signatureHeaders(secret, id, deps.now(), body),
    };
    try {
      const aborted = new Promise<never>((_, reject) => {
        breaker.signal.addEventListener("abort", () => reject(breaker.signal.reason));
      });
      // A resolver that hangs is not ended by the signal.
      const resolved = resolveAddresses(url, task.allow_private === 1, lookup);
      const addresses = await Promise.race([resolved, aborted]);
      const { signal } = breaker;
      return await Promise.race([postMessage({ url, addresses, headers, body, signal, ca: deps.ca }), aborted]);
    } finally {
      clearTimeout(timer);
      sending.delete(breaker);
    }
  }

  async function note(task: DeliveryTask, status: number): Promise<void> {
    for (const delay of noteDelaysMs) {
      try {
        return await recordDelivered(deps, task, status);
      } catch {
        await Bun.sleep(delay);
      }
    }
    await recordDelivered(deps, task, status);
  }

  async function end(task: DeliveryTask, result: AttemptResult): Promise<void> {
    await recordFailed(deps, task, result);
    notice("warn", `${task.id} of webhook ${task.webhook_id} failed: ${result.error}`);
  }

  return {
    look,
    async runDue() {
      const before = attempts;
      await look();
      while (lanes.size > 0) await Promise.all(lanes);
      throwTrouble();
      return attempts - before;
    },
    async stop(timeoutMs) {
      isStopping = true;
      await drainWithin(
        timeoutMs,
        () => (turn ? [...lanes, turn] : [...lanes]),
        () => {
          isHalted = true;
          for (const breaker of sending) breaker.abort();
        },
      );
    },
  };
}

/** When a delivery is tried again, in epoch milliseconds; null when that was the last time. */
function nextAttempt({ attempts, created_at }: DeliveryTask, now: number, waitMs: number): number | null {
  const delay = delaysMs[attempts - 1];
  if (delay === undefined || now - Date.parse(created_at) > longestMs) return null;
  return now + Math.max(Math.round(delay * (1 + Math.random() * jitter)), waitMs);
}
