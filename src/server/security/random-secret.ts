import { createHash, randomBytes } from "node:crypto";

/** A new secret: a prefix, by which scanners find one that leaked, and 256 random bits in base64url. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

/** The hash of a secret of that kind, as stored: SHA-256 in hex. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
