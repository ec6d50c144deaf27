import { createHash, randomBytes } from "node:crypto";

/** A new user token: `v2.` and 256 random bits in base64url (specification, sections 2 and 9). */
export function newToken(): string {
  return `v2.${randomBytes(32).toString("base64url")}`;
}

/** The hash of a token, as stored. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
