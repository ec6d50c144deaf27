import type { Answer } from "../../../delivery/channel.ts";
import type { Vault } from "../../../security/vault.ts";
import type { PushPlatform } from "../table.ts";

export interface Subscription {
  endpoint: string;
  /** Base64url without padding: `p256dh` is a point of P-256 (65 bytes), and `auth` has 16 bytes. */
  keys: { p256dh: string; auth: string };
}

/** A browser's subscription, or the token of a device. It is secret, because anyone who has it can send to the device. */
export type Target = Subscription | { token: string };

export interface PushPayload {
  title: string;
  body: string;
  /** A page of the store: an https address, or a path of the shop. */
  url?: string | undefined;
  /** A later notification with the same tag replaces this one. */
  tag?: string | undefined;
  data?: Record<string, unknown> | undefined;
}

export interface PushOptions {
  ttlSeconds: number;
  urgency: "normal" | "high";
  /** At most 32 characters of base64url. At the push service, a message replaces a waiting one with the same topic. */
  topic?: string | undefined;
  signal: AbortSignal;
}

/** Makes one attempt to send. Errors: RefusedAddress, after which there is no further attempt; others are retried. */
export type SendPush = (subscription: Subscription, payload: PushPayload, options: PushOptions) => Promise<Answer>;

/** The error for registrations of platforms to which nothing is sent. */
export const notSent = "Notifications are sent to browsers only";

export const isSent = (platform: PushPlatform) => platform === "web";

export function sealTarget(vault: Vault, registrationId: string, target: Target): string {
  return vault.seal("push", registrationId, JSON.stringify(target));
}

/** Returns a registration's target; null if another key encrypted it. @throws unavailable without the server's key. */
export function openTarget(vault: Vault, registrationId: string, sealed: string): Target | null {
  const text = vault.open("push", registrationId, sealed);
  return text === null ? null : (JSON.parse(text) as Target);
}
