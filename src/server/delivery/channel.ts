import type { InStatement } from "@libsql/core/api";
import type { SystemCtx } from "../context.ts";
import type { DeadEnd, Queue } from "./claim.ts";

export interface ChannelDeps extends Pick<SystemCtx, "db" | "vault" | "now"> {
  /** Tells operators that a receiver fails, that it works again, or that a delivery has failed finally. */
  notice?: ((level: "info" | "warn", message: string) => void) | undefined;
}

export interface Answer {
  /** Refused: the receiver works, but did not accept this message. Failed: it is down, busy, or did not answer. */
  result: "accepted" | "refused" | "failed";
  isFinal?: boolean;
  isGone?: boolean;
  status: number | null;
  error: string | null;
  retryAfterMs: number;
}

export interface Attempt {
  /** `receiver`'s circuit breaker counts the answer; `target` is the target at this receiver. */
  receiver: string;
  target: string;
  timeoutMs: number;
  /** Makes the attempt. An error means that the receiver failed. */
  send(signal: AbortSignal): Promise<Answer>;
}

/** Deliveries that are due and are claimed together: those of a store, or of one receiver. */
export interface Source {
  key: string;
  tenantId: string;
  /** The receiver of all its deliveries; undefined when each delivery has its own. */
  receiver?: string;
}

export interface Channel<Task> {
  queue: Queue<Task>;
  /** How many attempts a delivery gets; unlimited unless given. Interrupted attempts count. */
  maxAttempts?: number;
  createDeliveries?(): Promise<void>;
  listReady(): Promise<Source[]>;
  prepare(task: Task): Promise<Attempt | DeadEnd> | Attempt | DeadEnd;
  /** When to try again, in epoch milliseconds; the final state when it should not be tried again. */
  nextAttemptAt(task: Task, answer: Answer): number | DeadEnd["outcome"];
  alsoRecord?(task: Task, answer: Answer): InStatement[];
  /** Names a delivery in the notice of its failure. Without this function, there is no notice. */
  describe?(task: Task): string;
  /** Tells operators of an answer. @param circuit whether the answer opened or closed the receiver's circuit. */
  notify?(task: Task, answer: Answer, circuit: "opened" | "closed" | null, receiver: string): void;
  close?(): Promise<void> | void;
}

/**
 * Milliseconds until the next attempt; null when the schedule ends. Up to a fifth is added, so that deliveries that
 * failed together are not retried together. @param attempts how many were made, at least 1.
 */
export function retryDelayMs(delaysMs: readonly number[], attempts: number, retryAfterMs = 0): number | null {
  const delay = delaysMs[attempts - 1];
  return delay === undefined ? null : Math.max(Math.round(delay * (1 + Math.random() / 5)), retryAfterMs);
}
