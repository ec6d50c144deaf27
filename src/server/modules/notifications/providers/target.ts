import type { Vault } from "../../../security/vault.ts";

/** The endpoint of a browser, and the keys that encrypt messages to it (RFC 8291). */
export interface Subscription {
  /** The address at its push service. */
  endpoint: string;
  /** Base64url without padding: a point of P-256 (65 bytes), and 16 bytes. */
  keys: { p256dh: string; auth: string };
}

/** A browser's subscription, or the token of a device. It is secret: anyone who knows it can send to the device. */
export type Target = Subscription | { token: string };

/** The stored form of a target, sealed for its registration. @throws unavailable without the key. */
export function sealTarget(vault: Vault, registrationId: string, target: Target): string {
  return vault.seal("push", registrationId, JSON.stringify(target));
}

/** The target of a registration; null if it was sealed with another key. @throws unavailable without the key. */
export function openTarget(vault: Vault, registrationId: string, sealed: string): Target | null {
  const text = vault.open("push", registrationId, sealed);
  return text === null ? null : (JSON.parse(text) as Target);
}
