import { toTimestamp } from "../../clock.ts";
import type { Session } from "../../db/session.ts";
import { describeFailure, isDown } from "../../outbound/attempt-failure.ts";
import { drainWithin } from "../../poll.ts";
import type { PushPlatform } from "../../push-settings.ts";
import type { Vault } from "../../vault.ts";
import { attemptPush, nextAttempt, nextTry, type Route } from "./attempt.ts";
import {
  listReady,
  type PushResult,
  type PushTask,
  recordDelay,
  recordEnd,
  recordGone,
  recordSent,
  returnPush,
  takePushes,
} from "./due.ts";
import { fanOut, priorities } from "./fan-out.ts";
import type { PushAnswer, PushProvider } from "./provider.ts";
import { noProvider } from "./providers.ts";
import { createPushShares, type Slot } from "./shares.ts";
import { openTarget } from "./target.ts";

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

export interface PushSender {
  /**
   * Makes the deliveries of new messages and begins to send what is due; whatever is due then goes out by turns.
   * @throws AppError 5001 when the database cannot serve, or could not since the last look; what was taken is tried
   * again later.
   */
  look(): Promise<void>;
  /**
   * The same until nothing is being sent and no message waits for its deliveries.
   * @returns how many attempts were made meanwhile.
   */
  runDue(): Promise<number>;
  /** Takes nothing more, waits for what is being sent, and breaks off what is left after `withinMs`. */
  stop(withinMs: number): Promise<void>;
}

/** Makes the sender of a server's push notifications. Any number of them, in any number of processes, share the work. */
export function createPushSender(deps: PushSenderDeps): PushSender {
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
      const tasks = await takePushes(deps, { tenantId, priority: pool, most: slots.length });
      // There may be more; others come first.
      if (tasks.length === slots.length) shares.ask(tenantId, pool);
      for (const task of tasks) {
        const slot = slots.pop() as Slot;
        follow(send(task, slot).finally(() => shares.release(slot)));
      }
    } finally {
      for (const slot of slots) shares.release(slot);
    }
  }

  async function send(task: PushTask, slot: Slot): Promise<void> {
    const route = await findRoute(task);
    if (!route) return;
    const { service } = route;
    const heldUntil = shares.enter(service, slot);
    if (heldUntil > 0) return returnPush(deps, task, nextTry(heldUntil, deps.now()));
    attempts += 1;
    try {
      await attempt(task, route);
    } finally {
      shares.leave(service, slot);
    }
  }

  /** Who sends the delivery, and where to; undefined when that has ended it. */
  async function findRoute(task: PushTask): Promise<Route | undefined> {
    const { platform, registration_id: id } = task;
    if (task.expires_at <= toTimestamp(deps.now())) {
      return void (await recordEnd(deps, task, "expired", { status: null, error: null }));
    }
    if (id === null || task.target === null) return drop(task, "the registration is gone");
    if (task.is_theirs === 0) return drop(task, "the device is not theirs any more");
    const provider = deps.providers[platform];
    if (!provider) {
      if (!missing.has(platform)) notice("warn", noProvider[platform]);
      missing.add(platform);
      return void (await recordEnd(deps, task, "failed", { status: null, error: noProvider[platform] }));
    }
    const target = openTarget(deps.vault, id, task.target);
    if (!target) return drop(task, "the registration was sealed with another key");
    return { provider, target, service: `${platform} ${provider.serviceOf?.(target) ?? ""}`.trim() };
  }

  const drop = async (task: PushTask, error: string): Promise<undefined> => {
    await recordEnd(deps, task, "dropped", { status: null, error });
  };

  async function attempt(task: PushTask, route: Route): Promise<void> {
    const { service } = route;
    const began = performance.now();
    let answer: PushAnswer;
    try {
      answer = await deliver(task, route);
    } catch (error) {
      // Broken off by our own stop, it may have arrived; its tag lets a device show it once.
      if (isHalted) return returnPush(deps, task);
      answer = { status: null, retryAfterMs: 0, isGone: false, error: describeFailure(error) };
    }
    const { status, isGone, error, retryAfterMs } = answer;
    const isFinal = isGone || answer.isFinal === true || !isDown(status);
    if (isFinal) {
      const isBack = shares.noteAnswer(service, performance.now() - began);
      if (isBack) notice("info", `${service} takes push notifications again`);
    } else if (shares.noteFailure(service, retryAfterMs)) {
      notice("warn", `push notifications wait for ${service}: ${error}`);
    }
    const result = { status, error: error ?? "failed" };
    if (isGone) return recordGone(deps, task, result);
    if (status !== null && status >= 200 && status < 300) return recordSent(deps, task, status);
    if (isFinal) return recordEnd(deps, task, "failed", result);
    await retry(task, result, retryAfterMs);
  }

  async function retry(task: PushTask, result: PushResult, waitMs: number): Promise<void> {
    const next = nextAttempt(task, deps.now(), waitMs);
    if (next === null) return recordEnd(deps, task, "expired", result);
    await recordDelay(deps, task, next, result);
  }

  async function deliver(task: PushTask, route: Route): Promise<PushAnswer> {
    const breaker = new AbortController();
    sending.add(breaker);
    // Taken just before the stop, too late to be broken off with the others.
    if (isHalted) breaker.abort();
    try {
      return await attemptPush(task, route, { now: deps.now(), contact: deps.contact, timeoutMs, breaker });
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
    for (const { id, orders, messages, unproven } of await listReady(deps)) {
      if (orders) shares.ask(id, priorities.order);
      if (messages) shares.ask(id, priorities.message);
      if (unproven) shares.ask(id, priorities.unproven);
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
    async stop(withinMs) {
      isStopping = true;
      await drainWithin(
        withinMs,
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
