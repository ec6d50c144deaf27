import type { Source } from "./scheduler.ts";

/** How an attempt ended. */
export interface Answer {
  /** Refused: the receiver works, but did not take this message. Failed: it is down, busy, or did not answer. */
  result: "accepted" | "refused" | "failed";
  /** Whether another attempt is of no use. */
  isFinal?: boolean;
  /** The target does not exist any more. */
  isGone?: boolean;
  /** The HTTP status; null where there was none. */
  status: number | null;
  /** For operators; null where it was accepted. */
  error: string | null;
  /** How long the receiver asks to be left alone, in milliseconds; 0 if it does not. */
  retryAfterMs: number;
  /** Settles when the connection is closed; until then the attempt keeps its permit. */
  closed?: Promise<void>;
}

/** A claimed delivery that is ready to be sent. */
export interface Attempt {
  /** Whose circuit its answer counts for, and which of the receiver's targets it goes to. */
  receiver: string;
  target: string;
  timeoutMs: number;
  /** The timeout where the receiver is not trusted, if it is another. */
  untrustedTimeoutMs?: number | undefined;
  send(signal: AbortSignal): Promise<Answer>;
  /** Turns an error of `send` into its answer; a plain failure unless given. */
  explain?(error: unknown): Answer;
}

/** An answer opened or closed the circuit of a receiver. */
export interface CircuitChange {
  circuit: "opened" | "closed";
  receiver: string;
  pool: number;
}

/** A kind of message: its queue in the database, how a delivery is sent, and what an answer means. */
export interface Channel<Task> {
  /** Makes deliveries of new messages, a batch of each. Answers whether there are more to make. */
  createDeliveries?(isStopping: () => boolean): Promise<boolean>;
  /** Sources with deliveries that are due. */
  listReady(): Promise<Source[]>;
  /** Leases deliveries of a source to this process, those that have been due the longest first. */
  claim(source: Source, max: number): Promise<Task[]>;
  /** Ends leases early, each until `next` (epoch milliseconds); attempts that were not made do not count. */
  release(claims: { task: Task; next: number }[]): Promise<unknown>;
  /** Prepares an attempt; null for a delivery that cannot be sent, which it has ended. */
  prepare(task: Task, source: Source): Promise<Attempt | null>;
  /** When to try again, in epoch milliseconds; null when that is of no use. */
  nextAttemptAt(task: Task, answer: Answer): number | null;
  recordDelivered(task: Task, answer: Answer): Promise<unknown>;
  reschedule(task: Task, next: number, answer: Answer): Promise<unknown>;
  /** Ends a delivery that did not arrive. */
  end(task: Task, answer: Answer): Promise<unknown>;
  /** Tells operators of an answer. @param change of the circuit of its receiver; null when there was none. */
  notify?(task: Task, answer: Answer, change: CircuitChange | null): void;
  /** Closes connections. */
  close?(): Promise<void> | void;
}
