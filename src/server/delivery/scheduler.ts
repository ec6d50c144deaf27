import { LruCache } from "../values/lru-cache.ts";
import type { Answer, Attempt, Source } from "./channel.ts";

export interface SchedulerPolicy {
  /** How many attempts may run at once: in total, for a store, and for a receiver. */
  permits: Record<"total" | "tenant" | "receiver", number>;
  /** The permits of receivers that are slow, failing or unknown. The limit keeps most permits free for others. */
  untrusted: Record<"total" | "receiver", number>;
  batch: number;
  /** The circuit of a receiver, such as a push service, opens when this many of its targets failed in a row. */
  opensAfter: number;
  /** The maximum time, in milliseconds, for which a receiver can ask for a pause with Retry-After. */
  maxRetryAfterMs: number;
  isWellKnown?: (receiver: string) => boolean;
}

/** The minimum wait of a claimed delivery whose receiver has no free permit. */
const skippedMs = 2000;
/** A receiver that takes longer to answer is not trusted. */
const slowMs = 2000;
/** How long a circuit stays open. The time doubles with each failed attempt, up to `longest`. */
const openMs = { first: 5000, longest: 60_000 };
/** The cache keeps this many receivers, or up to twice as many. Clients can name any receiver, so there is a limit. */
const minReceivers = 5000;

/** `openings`: how often in a row the circuit was opened; 0 while it is closed. */
const createCircuit = () => ({ isTrusted: false, failed: new Set<string>(), openings: 0, openUntil: 0 });

/**
 * Decides which source may send next, and to which receiver. The store with the fewest attempts in progress comes
 * first. If a receiver fails, its circuit opens: it gets no attempts for a time, and then one at a time.
 */
export class Scheduler {
  readonly #policy: SchedulerPolicy;
  readonly #now: () => number;
  readonly #asking = new Map<string, Source>();
  readonly #running = new Map<string, number>();
  readonly #circuits = new LruCache<ReturnType<typeof createCircuit>>(minReceivers);

  constructor(policy: SchedulerPolicy, now: () => number) {
    this.#policy = policy;
    this.#now = now;
  }

  /** Adds sources to the queue for permits, unless they are already in the queue. */
  ask(...sources: Source[]): void {
    for (const source of sources) this.#asking.set(source.key, source);
  }

  /** Removes and returns the next source, and how many deliveries it may claim; undefined if no source may claim now. */
  next(): { source: Source; max: number } | undefined {
    let next: Source | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const source of this.#asking.values()) {
      const running = this.#running.get(`store ${source.tenantId}`) ?? 0;
      if (running >= fewest || this.#roomFor(source, source.receiver) <= 0) continue;
      next = source;
      fewest = running;
    }
    if (next === undefined) return undefined;
    this.#asking.delete(next.key);
    return { source: next, max: Math.min(this.#policy.batch, this.#roomFor(next, next.receiver)) };
  }

  /** Returns how many milliseconds a claimed delivery must wait; 0 if it may be sent now. */
  waitMs(source: Source, receiver: string): number {
    if (this.#roomFor(source, receiver) > 0) return 0;
    // The wait is random, so that waiting deliveries do not all become due at once.
    return this.openMs(receiver) + skippedMs * (1 + Math.random());
  }

  /** Reserves permits for an attempt, and returns the function that releases them. */
  start(source: Source, receiver: string): () => void {
    const names = Object.keys(this.#limitsOf(source, receiver));
    const add = (change: number) => {
      for (const name of names) {
        const count = (this.#running.get(name) ?? 0) + change;
        if (count > 0) this.#running.set(name, count);
        else this.#running.delete(name);
      }
    };
    add(1);
    return () => add(-1);
  }

  openMs(receiver: string): number {
    return Math.max((this.#circuits.get(receiver)?.openUntil ?? 0) - this.#now(), 0);
  }

  /** Records an answer. Returns whether the answer opened or closed the receiver's circuit; null if it did neither. */
  record({ receiver, target }: Attempt, answer: Answer, tookMs: number): "opened" | "closed" | null {
    const circuit = this.#circuits.getOrMake(receiver, createCircuit);
    const isClosed = circuit.openings === 0;
    if (answer.result !== "failed") {
      const isTrusted = tookMs < slowMs && (answer.result === "accepted" || circuit.isTrusted);
      this.#circuits.set(receiver, { ...createCircuit(), isTrusted });
      return isClosed ? null : "closed";
    }
    circuit.isTrusted = false;
    if (isClosed && circuit.failed.add(target).size < this.#policy.opensAfter) return null;
    const now = this.#now();
    // Several attempts may fail at the same time. Only the first one opens the circuit and doubles the time.
    if (this.openMs(receiver) === 0) {
      circuit.openUntil = now + Math.min(openMs.first * 2 ** circuit.openings, openMs.longest);
      circuit.openings += 1;
    }
    circuit.openUntil = Math.max(circuit.openUntil, now + Math.min(answer.retryAfterMs, this.#policy.maxRetryAfterMs));
    return isClosed ? "opened" : null;
  }

  #roomFor(source: Source, receiver: string | undefined): number {
    const limits = Object.entries(this.#limitsOf(source, receiver));
    return Math.min(...limits.map(([name, max]) => max - (this.#running.get(name) ?? 0)));
  }

  #limitsOf({ tenantId }: Source, receiver: string | undefined): Record<string, number> {
    const { permits, untrusted } = this.#policy;
    const limits: Record<string, number> = { all: permits.total, [`store ${tenantId}`]: permits.tenant };
    if (receiver === undefined) return limits;
    const circuit = this.#circuits.get(receiver);
    const isTrusted = this.#policy.isWellKnown?.(receiver) || circuit?.isTrusted;
    const isClosed = (circuit?.openings ?? 0) === 0;
    const whileOpen = this.openMs(receiver) > 0 ? 0 : 1;
    limits[`to ${receiver}`] = isClosed ? (isTrusted ? permits : untrusted).receiver : whileOpen;
    if (!isTrusted) limits.untrusted = untrusted.total;
    return limits;
  }
}
