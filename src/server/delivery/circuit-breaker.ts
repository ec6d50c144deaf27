import { LruCache } from "../values/lru-cache.ts";
import type { Answer, Attempt } from "./channel.ts";

/** An answer that takes longer counts as none. */
const slowMs = 2000;
/** How long a circuit stays open: doubled with each failed probe, up to the second. */
const openMs = { first: 5000, longest: 60_000 };
/** No circuit stays open for longer; one that seems to was opened before the clock was set back. */
const maxOpenMs = 3_600_000;
/** Strangers can name receivers, so their number is bounded; those that were not used lately are forgotten. */
const minReceivers = 5000;

export interface CircuitPolicy {
  /** How many different targets of a receiver must fail in a row until its circuit opens. */
  opensAfter: number;
  /** How long a receiver can keep its circuit open by Retry-After, in milliseconds. */
  maxRetryAfterMs: number;
  isWellKnown?: (receiver: string) => boolean;
}

const createCircuit = () => ({
  /** Whether its last answer was a quick one that accepted a message. */
  isTrusted: false,
  /** Targets that failed since the last answer, while the circuit is closed. */
  failed: new Set<string>(),
  /** How often in a row it was opened; 0 while it is closed. */
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
    // Attempts that fail at the same time count once.
    if (this.waitMs(receiver) === 0) {
      circuit.openUntil = now + Math.min(openMs.first * 2 ** circuit.openings, openMs.longest);
      circuit.openings += 1;
    }
    circuit.openUntil = Math.max(circuit.openUntil, now + retryAfterMs);
    return isClosed ? "opened" : null;
  }
}
