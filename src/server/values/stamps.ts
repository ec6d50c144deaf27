import { createHash, randomBytes } from "node:crypto";
import { typeidUnboxed } from "typeid-js";

/** Creates a TypeID (`prod_01h455vb4pex5vsknk084sn02q`): a UUIDv7 inside, so that ids sort by age. */
export function newId(prefix: string): string {
  return typeidUnboxed(prefix);
}

const suffix = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export function isId(prefix: string, text: string): boolean {
  return text.length === prefix.length + 27 && text.startsWith(`${prefix}_`) && suffix.test(text.slice(-26));
}

/** Returns 256 random bits in base64url after a prefix, by which scanners find leaked secrets. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

let lastMs = Number.NaN;
let lastText = "";

/** Returns a time of RFC 3339 in UTC. The last text is cached, because many calls are in the same millisecond. */
export function toTimestamp(epochMs: number): string {
  if (epochMs !== lastMs) {
    lastText = new Date(epochMs).toISOString();
    lastMs = epochMs;
  }
  return lastText;
}
