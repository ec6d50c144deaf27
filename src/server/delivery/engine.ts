import type { InStatement } from "@libsql/core/api";
import { withSignal, withTimeout } from "../concurrency/with-timeout.ts";
import type { Database } from "../db/session.ts";
import type { Answer, Attempt, Channel, ChannelDeps, Source } from "./channel.ts";
import type { Claim, DeadEnd } from "./claim.ts";
import { describeFailure } from "./outbound.ts";
import { Scheduler, type SchedulerPolicy } from "./scheduler.ts";

/** Pauses between polls, by kind of database. A random part makes each pause up to twice as long. */
const pauseMs = { file: 250, server: 2000 };
/** A poll skips at most about this many deliveries without a permit, in order to find deliveries to other receivers. */
const maxSkipped = 200;

/**
 * Sends the deliveries of a channel. Engines in several processes share the work, because a delivery is leased in the
 * database before it is sent. If the result cannot be recorded, the delivery is sent again, with the same id.
 */
export class DeliveryEngine<Task extends Claim> {
  attempts = 0;
  readonly #channel: Channel<Task>;
  readonly #scheduler: Scheduler;
  readonly #deps: ChannelDeps;
  readonly #work = new Set<Promise<unknown>>();
  #isClaiming = false;
  #isFailing = false;
  #skipped = 0;
  #isStopping = false;
  #timer: Timer | undefined;
  /** The end of the message in the log if the database does not answer, such as `mail stays queued`. */
  #effect = "";

  constructor(channel: Channel<Task>, { policy, ...deps }: ChannelDeps & { policy: SchedulerPolicy }) {
    this.#channel = channel;
    this.#deps = deps;
    this.#scheduler = new Scheduler(policy, deps.now);
  }

  start({ kind }: Database, effect: string): this {
    this.#effect = effect;
    const poll = async () => {
      await this.poll();
      if (!this.#isStopping) this.#timer = setTimeout(poll, pauseMs[kind] * (1 + Math.random()));
    };
    void poll();
    return this;
  }

  /** Stops claiming, and waits up to `graceMs` for attempts. Longer attempts are repeated when their leases end. */
  async stop(graceMs = 5000): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await withTimeout(this.idle(), graceMs).catch(() => {});
    await this.#channel.close?.();
  }

  async idle(): Promise<void> {
    do await Promise.all(this.#work);
    while (this.#work.size > 0);
  }

  /** Creates deliveries, and starts to send the due ones. Failures are logged once until a poll succeeds again. */
  poll(): Promise<unknown> {
    return this.#follow(async () => {
      if (this.#isStopping) return;
      await this.#channel.createDeliveries?.();
      this.#skipped = 0;
      this.#scheduler.ask(...(await this.#channel.listReady()));
      await this.#claimAll();
      this.#isFailing = false;
    });
  }

  /** Claims deliveries. One claim runs at a time, because a second could use the permits of the first. */
  async #claimAll(): Promise<void> {
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    try {
      for (let next = this.#scheduler.next(); next && !this.#isStopping; next = this.#scheduler.next()) {
        const { source, max } = next;
        const tasks = await this.#channel.queue.claim(this.#deps, { key: source.key, max });
        for (const task of tasks) await this.#begin(source, task);
        // The source may have more deliveries, so it is queued again.
        if (tasks.length === max && this.#skipped < maxSkipped) this.#scheduler.ask(source);
      }
    } finally {
      this.#isClaiming = false;
    }
  }

  async #begin(source: Source, task: Task): Promise<void> {
    const { queue, maxAttempts = Number.POSITIVE_INFINITY } = this.#channel;
    const { db, now } = this.#deps;
    const isExhausted = task.attempts > maxAttempts;
    const interrupted: DeadEnd = { outcome: "failed", error: "every attempt was interrupted" };
    const attempt = isExhausted ? interrupted : await this.#channel.prepare(task);
    if ("outcome" in attempt) return this.#end(task, { ...attempt, status: null });
    const { receiver } = attempt;
    const waitMs = this.#scheduler.waitMs(source, receiver);
    if (waitMs > 0) {
      this.#skipped++;
      return void this.#follow(() => db.batch([queue.released(task, now() + waitMs)]));
    }
    const end = this.#scheduler.start(source, receiver);
    void this.#follow(async () => {
      await this.#attempt(task, attempt).finally(end);
      await this.#claimAll();
    });
  }

  /** Runs work that fails only if the database does not answer, and logs such a failure. */
  #follow(start: () => Promise<unknown>): Promise<unknown> {
    const report = () => {
      if (!this.#isFailing) this.#deps.notice?.("warn", `the database does not answer; ${this.#effect}`);
      this.#isFailing = true;
    };
    const work = start()
      .catch(report)
      .finally(() => this.#work.delete(work));
    this.#work.add(work);
    return work;
  }

  async #end(task: Task, end: DeadEnd & Pick<Answer, "status">, also: InStatement[] = []): Promise<void> {
    await this.#deps.db.batch([this.#channel.queue.ended(task, end, this.#deps.now()), ...also]);
    const name = this.#channel.describe?.(task);
    if (end.outcome === "failed" && name !== undefined) this.#deps.notice?.("warn", `${name} failed: ${end.error}`);
  }

  async #attempt(task: Task, attempt: Attempt): Promise<unknown> {
    const { queue } = this.#channel;
    const { db, now } = this.#deps;
    this.attempts += 1;
    const signal = AbortSignal.timeout(attempt.timeoutMs);
    const began = performance.now();
    let answer: Answer;
    try {
      // `send` ignores the signal while the name resolver hangs, so the wait itself also ends at the signal.
      answer = await withSignal(attempt.send(signal), signal);
    } catch (error) {
      // The message may have arrived despite the error. Receivers recognise a repetition by its id.
      const text = signal.aborted ? `no answer within ${attempt.timeoutMs / 1000} s` : describeFailure(error);
      answer = { result: "failed", status: null, error: text, retryAfterMs: 0 };
    }
    const circuit = this.#scheduler.record(attempt, answer, performance.now() - began);
    this.#channel.notify?.(task, answer, circuit, attempt.receiver);
    const also = this.#channel.alsoRecord?.(task, answer) ?? [];
    if (answer.result === "accepted") return db.batch([queue.delivered(task, answer, now()), ...also]);
    const outcome = answer.isGone ? "dropped" : "failed";
    const next = answer.isFinal ? outcome : this.#channel.nextAttemptAt(task, answer);
    if (typeof next === "number") return db.batch([queue.postponed(task, answer, next), ...also]);
    return this.#end(task, { ...answer, outcome: next }, also);
  }
}
