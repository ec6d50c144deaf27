import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A new secret of a registration: `rsec_` and 256 random bits in base64url. */
export function newManagementSecret(): string {
  return `rsec_${randomBytes(32).toString("base64url")}`;
}

/** What is stored of it: SHA-256 in hex. */
export function hashManagementSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/**
 * Whether a secret is the one that was stored, in constant time.
 * @param stored undefined where there is none, which takes as long.
 */
export function isManagementSecret(secret: string, stored: string | undefined): boolean {
  const given = Buffer.from(hashManagementSecret(secret));
  return timingSafeEqual(given, Buffer.from(stored ?? "-".repeat(given.length)));
}
