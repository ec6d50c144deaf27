import { LruCache } from "../values/lru-cache.ts";
import type { Answer, Attempt } from "./channel.ts";

/** A slower answer counts as none. */
const slowMs = 2000;
/** How long a circuit stays open. The time doubles with each failed probe, up to `longest`. */
const openMs = { first: 5000, longest: 60_000 };
/** A circuit that seems to be open for longer was opened before the clock was set back. */
const maxOpenMs = 3_600_000;
/** Strangers can name receivers, so the number is limited; those not used recently are forgotten. */
const minReceivers = 5000;

export interface CircuitPolicy {
  /** How many different targets of a receiver must fail in a row until its circuit opens. */
  opensAfter: number;
  /** How long a receiver can keep its circuit open by Retry-After, in milliseconds. */
  maxRetryAfterMs: number;
  isWellKnown?: (receiver: string) => boolean;
}

const createCircuit = () => ({
  /** Whether the last answer accepted a message quickly. */
  isTrusted: false,
  /** Targets that failed since the last answer, while the circuit is closed. */
  failed: new Set<string>(),
  /** How often in a row the circuit was opened; 0 while it is closed. */
  openings: 0,
  openUntil: 0,
});

export class CircuitBreakers {
  readonly #circuits = new LruCache<ReturnType<typeof createCircuit>>(minReceivers);
  readonly #policy: CircuitPolicy;
  readonly #now: () => number;

  constructor(policy: CircuitPolicy, now: () => number) {
    this.#policy = policy;
    this.#now = now;
  }

  waitMs(receiver: string): number {
    const waitMs = (this.#circuits.get(receiver)?.openUntil ?? 0) - this.#now();
    return waitMs > maxOpenMs ? 0 : Math.max(waitMs, 0);
  }

  isClosed(receiver: string): boolean {
    return (this.#circuits.get(receiver)?.openings ?? 0) === 0;
  }

  isTrusted(receiver: string): boolean {
    return this.#policy.isWellKnown?.(receiver) === true || this.#circuits.get(receiver)?.isTrusted === true;
  }

  /** Records an answer. @returns whether it opened or closed the circuit of the receiver; null for neither. */
  record(attempt: Attempt, answer: Answer, tookMs: number): "opened" | "closed" | null {
    const { receiver } = attempt;
    const circuit = this.#circuits.getOrMake(receiver, createCircuit);
    const isClosed = circuit.openings === 0;
    const isSlow = tookMs >= slowMs;
    if (answer.result !== "failed") {
      const isTrusted = !isSlow && (answer.result === "accepted" || circuit.isTrusted);
      this.#circuits.set(receiver, { ...createCircuit(), isTrusted });
      return isClosed ? null : "closed";
    }
    const isUnknown = attempt.untrustedTimeoutMs !== undefined && !this.isTrusted(receiver);
    const opensAfter = isUnknown && (answer.status === null || isSlow) ? 1 : this.#policy.opensAfter;
    circuit.isTrusted = false;
    if (isClosed && circuit.failed.add(attempt.target).size < opensAfter) return null;
    const retryAfterMs = Math.min(answer.retryAfterMs, this.#policy.maxRetryAfterMs);
    const now = this.#now();
    // Concurrent failed attempts count once.
    if (this.waitMs(receiver) === 0) {
      circuit.openUntil = now + Math.min(openMs.first * 2 ** circuit.openings, openMs.longest);
      circuit.openings += 1;
    }
    circuit.openUntil = Math.max(circuit.openUntil, now + retryAfterMs);
    return isClosed ? "opened" : null;
  }
}
