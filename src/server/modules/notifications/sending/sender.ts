import type { PushPlatform } from "../../../config/push-config.ts";
import type { Session } from "../../../db/session.ts";
import { describeFailure, isDown } from "../../../delivery/outbound/attempt-failure.ts";
import { type DeliverySender, drainWithin } from "../../../delivery/poller.ts";
import type { Vault } from "../../../security/vault.ts";
import type { PushAnswer, PushProvider } from "../providers/provider.ts";
import { noProvider } from "../providers/providers.ts";
import { attemptPush, nextAttempt, nextTry, timeOf } from "./attempt.ts";
import {
  listReady,
  type PushResult,
  type PushTask,
  recordDelay,
  recordEnd,
  recordGone,
  recordSent,
  returnPushes,
  takePushes,
} from "./due.ts";
import { fanOut, isUnproven, priorities } from "./fan-out.ts";
import { findRoute, type Route } from "./route.ts";
import { slowMs } from "./service-health.ts";
import { createPushShares, type Slot } from "./shares.ts";

const attemptMs = 10_000;
export interface PushSenderDeps {
  db: Session;
  vault: Vault;
  /** Epoch milliseconds. */
  now: () => number;
  /** What sends to each platform; to one without, nothing is sent. */
  providers: Partial<Record<PushPlatform, PushProvider>>;
  /** Whom push services may write to; the store's own page where it is undefined. */
  contact?: string | undefined;
  /** Told what an operator should know: that a push service fails, that it is back, that a platform has no provider. */
  notice?: ((level: "info" | "warn", message: string) => void) | undefined;
  /** How long an attempt may take, in milliseconds. */
  timeoutMs?: number;
}

/** Makes the sender of a server's push notifications. Any number of them, in any number of processes, share the work. */
export function createPushSender(deps: PushSenderDeps): DeliverySender {
  const { notice = () => {}, timeoutMs = attemptMs } = deps;
  const sending = new Set<AbortController>();
  const lanes = new Set<Promise<void>>();
  const shares = createPushShares(deps.now);
  const missing = new Set<PushPlatform>();
  let attempts = 0;
  let isStopping = false;
  let isHalted = false;
  let turn: Promise<boolean> | undefined;
  /** Why the database could not be read or written. */
  let trouble: { error: unknown } | undefined;

  /** Starts all who can have slots now. */
  function serve(): void {
    for (let slots = nextSlots(); slots.length > 0; slots = nextSlots()) follow(sendNext(slots));
  }

  const nextSlots = () => (isStopping ? [] : shares.take());

  function follow(work: Promise<void>): void {
    const lane = work
      .catch((error: unknown) => {
        trouble = { error };
      })
      .finally(() => {
        lanes.delete(lane);
        serve();
      });
    lanes.add(lane);
  }

  /** Takes what is due for slots of one store and pool, and begins to send it. */
  async function sendNext(slots: Slot[]): Promise<void> {
    const [{ tenantId, pool }] = slots as [Slot];
    try {
      const tasks = await takePushes(deps, { tenantId, pool, most: slots.length });
      // There may be more; others come first.
      if (tasks.length === slots.length) shares.ask(tenantId, pool);
      const given: { task: PushTask; next: number }[] = [];
      for (const task of tasks) {
        const slot = slots.at(-1) as Slot;
        const work = begin(task, slot);
        if (typeof work === "number") given.push({ task, next: work });
        else {
          slots.pop();
          follow(work.finally(() => shares.release(slot)));
        }
      }
      await returnPushes(deps, given);
    } finally {
      for (const slot of slots) shares.release(slot);
    }
  }

  /** Begins to send a delivery, or ends it; answers when to look at it again (epoch milliseconds) where it has to wait. */
  function begin(task: PushTask, slot: Slot): Promise<void> | number {
    const route = findRoute(task, deps);
    if ("outcome" in route) {
      if (route.error === noProvider[task.platform]) noticeMissing(task.platform);
      return recordEnd(deps, task, route.outcome, { status: null, error: route.error });
    }
    const heldUntil = shares.enter(route.service, slot);
    if (heldUntil > 0) return nextTry(heldUntil, deps.now());
    attempts += 1;
    return attempt(task, route, slot).finally(() => shares.leave(route.service, slot));
  }

  function noticeMissing(platform: PushPlatform): void {
    if (!missing.has(platform)) notice("warn", noProvider[platform]);
    missing.add(platform);
  }

  async function attempt(task: PushTask, route: Route, { pool }: Slot): Promise<void> {
    const { service } = route;
    const began = performance.now();
    let answer: PushAnswer;
    try {
      const isUnknown = isUnproven(pool) && !shares.isTrusted(service);
      answer = await deliver(task, route, timeOf(task, isUnknown, timeoutMs));
    } catch (error) {
      // Broken off by our own stop, it may have arrived; its tag lets a device show it once.
      if (isHalted) return returnPushes(deps, [{ task, next: deps.now() }]);
      answer = { status: null, retryAfterMs: 0, isGone: false, error: describeFailure(error) };
    }
    const { status, isGone, error, retryAfterMs: waitMs } = answer;
    const isFinal = isGone || answer.isFinal === true || !isDown(status);
    const isTaken = status !== null && status >= 200 && status < 300;
    const tookMs = performance.now() - began;
    if (isFinal) {
      const isBack = shares.noteAnswer(service, { tookMs, isTaken });
      if (isBack) notice("info", `${service} takes push notifications again`);
    } else {
      const registrationId = task.registration_id as string;
      const isSilent = status === null || tookMs >= slowMs;
      const isNew = shares.noteFailure(service, pool, { registrationId, isSilent, waitMs });
      // Strangers name the hosts of browsers.
      if (isNew && !(isUnproven(pool) && task.platform === "web")) {
        notice("warn", `push notifications wait for ${service}: ${error}`);
      }
    }
    const result = { status, error: error ?? "failed" };
    if (isGone) return recordGone(deps, task, result);
    if (isTaken) return recordSent(deps, task, status);
    if (isFinal) return recordEnd(deps, task, "failed", result);
    await retry(task, result, waitMs);
  }

  async function retry(task: PushTask, result: PushResult, waitMs: number): Promise<void> {
    const next = nextAttempt(task, deps.now(), waitMs);
    if (next === null) return recordEnd(deps, task, "expired", result);
    await recordDelay(deps, task, next, result);
  }

  async function deliver(task: PushTask, route: Route, timeoutMs: number): Promise<PushAnswer> {
    const breaker = new AbortController();
    sending.add(breaker);
    // Taken just before the stop, too late to be broken off with the others.
    if (isHalted) breaker.abort();
    try {
      return await attemptPush(task, route, { now: deps.now(), contact: deps.contact, timeoutMs: timeoutMs, breaker });
    } finally {
      sending.delete(breaker);
    }
  }

  function throwTrouble(): void {
    if (!trouble) return;
    const { error } = trouble;
    trouble = undefined;
    throw error;
  }

  /** Answers whether messages wait for their deliveries. */
  async function lookOnce(): Promise<boolean> {
    throwTrouble();
    // One at a time makes deliveries; who comes meanwhile only sends.
    turn ??= fanOut(deps, () => isStopping).finally(() => {
      turn = undefined;
    });
    const isMore = await turn;
    if (isStopping) return false;
    shares.reopen();
    for (const { id, orders, messages, newOrders, newMessages } of await listReady(deps)) {
      if (orders) shares.ask(id, priorities.order);
      if (messages) shares.ask(id, priorities.message);
      if (newOrders) shares.ask(id, priorities.newOrder);
      if (newMessages) shares.ask(id, priorities.newMessage);
    }
    serve();
    return isMore;
  }

  return {
    async look() {
      await lookOnce();
    },
    async runDue() {
      const before = attempts;
      for (let isMore = true; isMore; ) {
        isMore = await lookOnce();
        while (lanes.size > 0) await Promise.all(lanes);
        throwTrouble();
      }
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
      await Promise.all(Object.values(deps.providers).map((provider) => provider.stop?.()));
    },
  };
}
