import type { InStatement } from "@libsql/core/api";
import type { SystemCtx } from "../context.ts";
import type { DeadEnd, Queue } from "./claim.ts";

export interface ChannelDeps extends Pick<SystemCtx, "db" | "vault" | "now"> {
  /** Logs for operators that a receiver fails or works again, or that a delivery was given up. */
  notice?: ((level: "info" | "warn", message: string) => void) | undefined;
}

export interface Answer {
  /** Refused: the receiver works, but rejects this message. Failed: the receiver is down or busy, or did not answer. */
  result: "accepted" | "refused" | "failed";
  isFinal?: boolean;
  isGone?: boolean;
  status: number | null;
  error: string | null;
  retryAfterMs: number;
}

export interface Attempt {
  /** The server that gets the message, such as a push service, and a `target` there, such as a device. */
  receiver: string;
  target: string;
  timeoutMs: number;
  /** Makes the attempt. If this throws, the receiver has failed. */
  send(signal: AbortSignal): Promise<Answer>;
}

/** Due deliveries that are claimed together: those of a store, or of one receiver. */
export interface Source {
  key: string;
  tenantId: string;
  /** The receiver of all these deliveries; undefined if they have several receivers. */
  receiver?: string;
}

export interface Channel<Task> {
  queue: Queue<Task>;
  /** The maximum number of attempts for a delivery, including interrupted ones. By default, there is no maximum. */
  maxAttempts?: number;
  createDeliveries?(): Promise<void>;
  listReady(): Promise<Source[]>;
  prepare(task: Task): Promise<Attempt | DeadEnd> | Attempt | DeadEnd;
  /** Returns when to try again, in epoch milliseconds, or the final status if there is no further attempt. */
  nextAttemptAt(task: Task, answer: Answer): number | DeadEnd["outcome"];
  alsoRecord?(task: Task, answer: Answer): InStatement[];
  /** Names a delivery in the log when it was given up. Without this function, that is not logged. */
  describe?(task: Task): string;
  /** Logs an answer for operators. @param circuit whether the answer opened or closed the receiver's circuit. */
  notify?(task: Task, answer: Answer, circuit: "opened" | "closed" | null, receiver: string): void;
  close?(): Promise<void> | void;
}

/**
 * Returns the milliseconds until the next attempt; null if there is none. A random part of up to a fifth is added, so
 * that deliveries that failed together are not retried together. @param attempts the attempts so far, at least 1.
 */
export function retryDelayMs(delaysMs: readonly number[], attempts: number, retryAfterMs = 0): number | null {
  const delay = delaysMs[attempts - 1];
  return delay === undefined ? null : Math.max(Math.round(delay * (1 + Math.random() / 5)), retryAfterMs);
}
