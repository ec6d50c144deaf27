import type { InStatement } from "@libsql/core/api";
import { withSignal, withTimeout } from "../concurrency/with-timeout.ts";
import type { Database } from "../db/session.ts";
import type { Answer, Attempt, Channel, ChannelDeps, Source } from "./channel.ts";
import type { Claim, DeadEnd } from "./claim.ts";
import { DeliveryFailure, describeFailure } from "./outbound.ts";
import { Scheduler, type SchedulerPolicy } from "./scheduler.ts";

/** A poll of a file takes microseconds, a poll of a server a round trip. Jitter makes pauses up to twice as long. */
const pauseMs = { file: 250, server: 2000 };
const failurePauseMs = 5000;
/** Between two polls, about this many deliveries to receivers without a permit are skipped to find some for others. */
const maxSkipped = 200;
const graceMs = 5000;
const releaseMs = 1000;

/**
 * Sends the deliveries of a channel. Any number of engines, in any number of processes, share the work, because a
 * delivery is leased in the database before it is sent. It is sent again, with the same id, if its result cannot be
 * recorded.
 */
export class DeliveryEngine<Task extends Claim> {
  attempts = 0;
  readonly #channel: Channel<Task>;
  readonly #scheduler: Scheduler;
  readonly #deps: ChannelDeps;
  readonly #work = new Set<Promise<unknown>>();
  readonly #sending = new Set<AbortController>();
  #polling: Promise<boolean> | undefined;
  #isClaiming = false;
  #skipped = 0;
  #isStopping = false;
  #isHalted = false;
  #timer: Timer | undefined;
  #databaseFailure: { error: unknown } | undefined;

  constructor(channel: Channel<Task>, { policy, ...deps }: ChannelDeps & { policy: SchedulerPolicy }) {
    this.#channel = channel;
    this.#deps = deps;
    this.#scheduler = new Scheduler(policy, deps.now);
  }

  /** Polls until it is stopped. @param effect what a database without an answer means: `mail stays queued`. */
  start({ kind }: Database, effect: string): { stop(): Promise<void> } {
    let isFailing = false;
    const poll = async () => {
      try {
        await this.poll();
        isFailing = false;
      } catch {
        if (!isFailing) this.#deps.notice?.("warn", `the database does not answer; ${effect}`);
        isFailing = true;
      }
      const pause = isFailing ? failurePauseMs : pauseMs[kind] * (1 + Math.random());
      if (!this.#isStopping) this.#timer = setTimeout(poll, pause);
    };
    void poll();
    return { stop: () => this.stop(graceMs) };
  }

  /** Stops claiming and waits for running attempts. After `graceMs`, interrupts them and releases their claims. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const halting = setTimeout(() => {
      this.#isHalted = true;
      for (const controller of this.#sending) controller.abort();
    }, graceMs);
    await withTimeout(this.idle(), graceMs + releaseMs).catch(() => {});
    clearTimeout(halting);
    await this.#channel.close?.();
  }

  async idle(): Promise<void> {
    for (let isBusy = true; isBusy; isBusy = this.#work.size > 0) {
      await Promise.allSettled([...this.#work, this.#polling]);
    }
  }

  /**
   * Creates new deliveries and starts to send those that are due. Returns whether there are more to create.
   * @throws unavailable when the database does not answer, or has not since the last poll; claims are retried later.
   */
  poll(): Promise<boolean> {
    this.#polling = this.#pollOnce();
    return this.#polling;
  }

  async #pollOnce(): Promise<boolean> {
    const failure = this.#databaseFailure;
    this.#databaseFailure = undefined;
    if (failure) throw failure.error;
    if (this.#isStopping) return false;
    const isMore = (await this.#channel.createDeliveries?.()) ?? false;
    this.#skipped = 0;
    this.#scheduler.ask(...(await this.#channel.listReady()));
    this.#follow(this.#claimAll());
    return isMore;
  }

  /** Claims for one source at a time, so that the permits counted before a claim are still free after it. */
  async #claimAll(): Promise<void> {
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    const { queue, claimParams } = this.#channel;
    try {
      for (let next = this.#scheduler.next(); next && !this.#isStopping; next = this.#scheduler.next()) {
        const { source, max } = next;
        const tasks = await queue.claim(this.#deps, claimParams(source, max));
        for (const task of tasks) await this.#begin(source, task);
        // The source may have more.
        if (tasks.length === max && this.#skipped < maxSkipped) this.#scheduler.ask(source);
      }
    } finally {
      this.#isClaiming = false;
    }
  }

  /** Begins to send a claimed delivery, or releases it if its receiver has no permit. */
  async #begin(source: Source, task: Task): Promise<void> {
    const { queue, maxAttempts = Number.POSITIVE_INFINITY } = this.#channel;
    const isExhausted = task.attempts > maxAttempts;
    const interrupted: DeadEnd = { outcome: "failed", error: "every attempt was interrupted" };
    const attempt = isExhausted ? interrupted : await this.#channel.prepare(task);
    if ("outcome" in attempt) return this.#end(task, { ...attempt, status: null });
    const { receiver } = attempt;
    const waitMs = this.#scheduler.waitMs(source, receiver);
    if (waitMs > 0) {
      this.#skipped++;
      return this.#follow(this.#write(queue.released(task, this.#deps.now() + waitMs)));
    }
    const end = this.#scheduler.start(source, receiver);
    const done = this.#attempt(task, attempt).finally(() => {
      end();
      this.#follow(this.#claimAll());
    });
    this.#follow(done);
  }

  #follow(promise: Promise<unknown>): void {
    const work = promise
      .catch((error: unknown) => (this.#databaseFailure = { error }))
      .finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  async #write(...statements: InStatement[]): Promise<void> {
    await this.#deps.db.batch(statements);
  }

  async #end(task: Task, end: DeadEnd & Pick<Answer, "status">, also: InStatement[] = []): Promise<void> {
    await this.#write(this.#channel.queue.ended(task, end, this.#deps.now()), ...also);
    const name = this.#channel.describe?.(task);
    if (end.outcome === "failed" && name !== undefined) this.#deps.notice?.("warn", `${name} failed: ${end.error}`);
  }

  async #attempt(task: Task, attempt: Attempt): Promise<void> {
    const { queue, outcomeOf } = this.#channel;
    const { now } = this.#deps;
    const began = performance.now();
    let answer: Answer;
    try {
      answer = await this.#send(attempt);
    } catch (error) {
      // The message may have arrived nevertheless; receivers recognise it by its id.
      if (this.#isHalted) return this.#write(queue.released(task, now()));
      answer = { result: "failed", status: null, error: describeFailure(error), retryAfterMs: 0 };
    }
    const circuit = this.#scheduler.record(attempt, answer, performance.now() - began);
    this.#channel.notify?.(task, answer, circuit, attempt.receiver);
    const also = this.#channel.alsoRecord?.(task, answer) ?? [];
    if (answer.result === "accepted") return this.#write(queue.delivered(task, answer, now()), ...also);
    const next = answer.isFinal ? null : this.#channel.nextAttemptAt(task, answer);
    if (next !== null) return this.#write(queue.postponed(task, answer, next), ...also);
    return this.#end(task, { ...answer, outcome: outcomeOf?.(answer) ?? "failed" }, also);
  }

  async #send({ receiver, timeoutMs, untrustedTimeoutMs = timeoutMs, send }: Attempt): Promise<Answer> {
    const ms = this.#scheduler.isTrusted(receiver) ? timeoutMs : untrustedTimeoutMs;
    const controller = new AbortController();
    const giveUp = () => controller.abort(new DeliveryFailure(`no answer within ${ms / 1000} s`));
    const timer = setTimeout(giveUp, ms);
    this.#sending.add(controller);
    try {
      if (this.#isHalted) throw new DOMException("", "AbortError");
      this.attempts += 1;
      // A name resolver that hangs ignores the signal.
      return await withSignal(send(controller.signal), controller.signal);
    } finally {
      clearTimeout(timer);
      this.#sending.delete(controller);
    }
  }
}
