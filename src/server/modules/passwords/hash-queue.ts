import { availableParallelism } from "node:os";
import { unavailable } from "../../errors.ts";

/** How much hashing this process does at once. */
export interface HashQueueLimits {
  /** Hashes computed at the same time; one per core unless told otherwise. */
  concurrency: number;
  /** Hashes that may wait beyond these. */
  maxWaiting: number;
}

// Bun's own pool takes any number of hashes, and whatever else it has to do would wait behind all of them.
const limits: HashQueueLimits = { concurrency: Math.max(1, availableParallelism()), maxWaiting: 128 };
const waiting: (() => void)[] = [];
let running = 0;

/** Leaves each of several processes its part of the cores. */
export function shareCores(processes: number): void {
  configureHashing({ concurrency: availableParallelism() / processes });
}

/** Changes the limits of this process. */
export function configureHashing({ concurrency, maxWaiting }: Partial<HashQueueLimits>): void {
  if (concurrency !== undefined) limits.concurrency = Math.max(1, Math.floor(concurrency));
  if (maxWaiting !== undefined) limits.maxWaiting = maxWaiting;
}

/** How many hashes wait for their turn. */
export function hashesWaiting(): number {
  return waiting.length;
}

/**
 * Runs expensive work in turn, first come, first served.
 * @throws unavailable when too much waits already; whatever `work` throws.
 */
export async function takeHashingTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < limits.concurrency) running += 1;
  else {
    if (waiting.length >= limits.maxWaiting) throw unavailable("Too many passwords are being checked.");
    // Whoever ends hands the place over, so that nobody who comes meanwhile can slip in.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
