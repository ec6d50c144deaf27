import type { Vault } from "../../../security/vault.ts";

/** Where a browser is reached, and with which keys a message is encrypted for it (RFC 8291). */
export interface Subscription {
  /** The address at its push service. */
  endpoint: string;
  /** Base64url without padding: a point of P-256 (65 bytes), and 16 bytes. */
  keys: { p256dh: string; auth: string };
}

/** What a message is sent to: a browser's subscription, or the token of a device. Whoever knows it can send. */
export type Target = Subscription | { token: string };

/** The target as it is kept: sealed for its registration, and of no use elsewhere. Errors: unavailable without the key. */
export function sealTarget(vault: Vault, registrationId: string, target: Target): string {
  return vault.seal("push", registrationId, JSON.stringify(target));
}

/** The target of a registration; null where it was sealed with another key or for another. Errors: unavailable without the key. */
export function openTarget(vault: Vault, registrationId: string, sealed: string): Target | null {
  const text = vault.open("push", registrationId, sealed);
  return text === null ? null : (JSON.parse(text) as Target);
}
