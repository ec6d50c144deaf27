import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A new secret: `sk_` and 256 random bits in base64url. The prefix lets scanners find one that leaked. */
export function newSecret(): string {
  return `sk_${randomBytes(32).toString("base64url")}`;
}

/** The hash of a secret, as stored. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares two hashes of equal length in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
