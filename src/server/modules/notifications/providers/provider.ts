import type { Target } from "./target.ts";

/** What a device is told, in its language. */
export interface PushPayload {
  title: string;
  body: string;
  /** A page of the store: https, or a path of the shop. */
  url?: string | undefined;
  /** What is told later with the same tag takes its place. */
  tag?: string | undefined;
  /** For the shop's own code. */
  data?: Record<string, unknown> | undefined;
}

export interface PushOptions {
  /** How long a device that is off may still be told, in seconds. */
  ttlSeconds: number;
  urgency: "normal" | "high";
  /** What waits at the push service under the same topic is replaced: at most 32 characters of base64url. */
  topic?: string | undefined;
  /** Whom a push service may write to about the messages: an https or mailto address. */
  contact: string;
  /** Ends the attempt. */
  signal: AbortSignal;
}

/** What came of an attempt. A status of 2xx is a success; none, 408, 429 and 5xx are tried again; the rest is final. */
export interface PushAnswer {
  /** That of the answer; null where there was none. */
  status: number | null;
  /** How long the service asks to be left alone, 0 if it does not. */
  retryAfterMs: number;
  /** Nobody is at that target any more: its registration goes. */
  isGone: boolean;
  /** Whatever the status, another attempt would fare no better. */
  isFinal?: boolean | undefined;
  /** What went wrong, for operators; null for a success. Holds neither targets nor secrets. */
  error: string | null;
}

/** What sends to the devices of one platform. */
export interface PushProvider {
  /**
   * What answers for the target, such as the endpoint's host, where that is not the same for all: who is slow or down
   * there holds up nobody elsewhere.
   */
  serviceOf?(target: Target): string;
  /**
   * Makes one attempt. What the network does is answered, never thrown; the signal's abort may reject.
   */
  deliver(target: Target, payload: PushPayload, options: PushOptions): Promise<PushAnswer>;
  /** Lets go of what is kept between attempts. */
  stop?(): Promise<void> | void;
}
