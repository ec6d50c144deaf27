import { createHash, randomBytes } from "node:crypto";

/** The prefix lets scanners find leaked secrets; 256 random bits in base64url follow. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

/** Returns SHA-256 in hex. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
