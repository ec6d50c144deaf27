/** An answer that takes longer counts as none. */
export const slowMs = 2000;
/** How long a circuit stays open: doubled with each failed probe, up to the second. */
const openMs = { first: 5000, longest: 60_000 };
/** Strangers can name receivers, so their number is bounded. */
const maxReceivers = 10_000;

export interface CircuitPolicy {
  /** How many different targets of a receiver must fail in a row until its circuit opens; `silent` had no timely answer. */
  opensAfter: { failed: number; silent: number };
  /** Timely acceptances raise the score of a receiver up to this; it is trusted while its score is positive. */
  maxScore: number;
  /** Whether every failure and refusal lowers the score, or only a missing or slow answer. */
  scoreLostBy: "failure" | "silence";
  /** How long a receiver can keep its circuit open by Retry-After, in milliseconds. */
  maxRetryAfterMs: number;
  /** Receivers that are always trusted. */
  isWellKnown?: (receiver: string) => boolean;
  /** Pools in which one missing answer of an untrusted receiver opens its circuit. */
  isSuspect?: (pool: number) => boolean;
}

export interface Failure {
  /** The device or address that failed; failures of one target alone do not open the circuit. */
  target: string;
  isSilent: boolean;
  /** The pause that the receiver asks for, in milliseconds; 0 for none. */
  retryAfterMs: number;
}

/** The state of one receiver in one pool. */
type Circuit = ReturnType<typeof createCircuit>;

interface Receiver {
  score: number;
  circuits: Circuit[];
}

const createCircuit = () => ({
  /** Targets that failed since the last answer, and those of them without a timely answer. */
  failed: new Set<string>(),
  silent: new Set<string>(),
  isOpen: false,
  /** How often in a row it was opened. */
  openings: 0,
  /** By `now`; after that one probe at a time is sent. */
  openUntil: 0,
  busy: 0,
  /** When an attempt began or ended last. */
  movedAt: 0,
});

const untried: Readonly<Circuit> = createCircuit();

/**
 * Remembers how receivers answered. Each pool opens a circuit on its own evidence, so that addresses registered by strangers
 * cannot block trusted ones; an answer closes the circuits of all pools.
 */
export class CircuitBreakers {
  readonly #receivers = new Map<string, Receiver>();
  readonly #policy: CircuitPolicy;
  readonly #pools: number;
  readonly #now: () => number;

  /** @param options pools: how many there are; now: milliseconds that no change of the clock moves. */
  constructor(policy: CircuitPolicy, options: { pools: number; now: () => number }) {
    this.#policy = policy;
    this.#pools = options.pools;
    this.#now = options.now;
  }

  stateOf(receiver: string, pool: number): Readonly<Circuit> {
    return this.#receivers.get(receiver)?.circuits[pool] ?? untried;
  }

  /** Whether the circuit refuses probes too. */
  isOpen(receiver: string, pool: number): boolean {
    return this.stateOf(receiver, pool).openUntil > this.#now();
  }

  /** Counts attempts that began (1) or ended (-1). */
  countBusy(receiver: string, pool: number, by: 1 | -1): void {
    const circuit = this.#find(receiver).circuits[pool] as Circuit;
    if (circuit.busy === 0 || by < 0) circuit.movedAt = this.#now();
    circuit.busy += by;
  }

  isTrusted(receiver: string): boolean {
    return this.#policy.isWellKnown?.(receiver) === true || (this.#receivers.get(receiver)?.score ?? 0) > 0;
  }

  /** 0 for a trusted receiver, 1 for one that was not tried yet, 2 for one that is slow or fails. */
  rankOf(receiver: string): number {
    return this.isTrusted(receiver) ? 0 : this.#receivers.has(receiver) ? 2 : 1;
  }

  /**
   * Notes an answer that shows that the receiver works, also if it refused the message.
   * @returns whether a circuit was open until now.
   */
  noteAnswer(receiver: string, { tookMs, isAccepted }: { tookMs: number; isAccepted: boolean }): boolean {
    const known = this.#find(receiver);
    const wasOpen = known.circuits.some(({ isOpen }) => isOpen);
    for (const circuit of known.circuits) {
      circuit.failed.clear();
      circuit.silent.clear();
      Object.assign(circuit, { isOpen: false, openings: 0, openUntil: 0 });
    }
    if (tookMs >= slowMs || (!isAccepted && this.#policy.scoreLostBy === "failure")) lowerScore(known);
    else if (isAccepted) known.score = Math.min(known.score + 1, this.#policy.maxScore);
    return wasOpen;
  }

  /**
   * Notes a failure, which opens the circuit once enough different targets have failed.
   * @returns whether it opened the circuit.
   */
  noteFailure(receiver: string, pool: number, { target, isSilent, retryAfterMs }: Failure): boolean {
    const { opensAfter, scoreLostBy, maxRetryAfterMs, isSuspect } = this.#policy;
    const known = this.#find(receiver);
    const circuit = known.circuits[pool] as Circuit;
    if (circuit.failed.size < opensAfter.failed) circuit.failed.add(target);
    if (isSilent && circuit.silent.size < opensAfter.silent) circuit.silent.add(target);
    if (isSilent || scoreLostBy === "failure") lowerScore(known);
    const isEnough = circuit.failed.size >= opensAfter.failed || circuit.silent.size >= opensAfter.silent;
    const isJunk = isSilent && isSuspect?.(pool) === true && !this.isTrusted(receiver);
    if (!isEnough && !isJunk) return false;
    const isNew = !circuit.isOpen;
    circuit.isOpen = true;
    const now = this.#now();
    // Attempts that fail at the same time count once.
    if (circuit.openUntil <= now) {
      circuit.openUntil = now + Math.min(openMs.first * 2 ** circuit.openings, openMs.longest);
      circuit.openings = Math.min(circuit.openings + 1, 10);
    }
    circuit.openUntil = Math.max(circuit.openUntil, now + Math.min(retryAfterMs, maxRetryAfterMs));
    return isNew;
  }

  #find(name: string): Receiver {
    let receiver = this.#receivers.get(name);
    if (!receiver) {
      if (this.#receivers.size >= maxReceivers) this.#evict();
      receiver = { score: 0, circuits: Array.from({ length: this.#pools }, createCircuit) };
      this.#receivers.set(name, receiver);
    }
    return receiver;
  }

  /** Removes receivers without attempts or open circuits; trusted ones only if that is not enough. */
  #evict(): void {
    const now = this.#now();
    const isIdle = ({ circuits }: Receiver) => circuits.every(({ busy, openUntil }) => busy === 0 && openUntil <= now);
    for (const [name, receiver] of this.#receivers) {
      if (receiver.score === 0 && isIdle(receiver)) this.#receivers.delete(name);
    }
    if (this.#receivers.size < maxReceivers / 2) return;
    for (const [name, receiver] of this.#receivers) if (isIdle(receiver)) this.#receivers.delete(name);
  }
}

function lowerScore(receiver: Receiver): void {
  receiver.score = Math.max(receiver.score - 1, 0);
}
