import { type KeyObject, verify } from "node:crypto";

/** The content of a token whose signature is valid. */
export interface ReadToken {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/**
 * Reads a JSON Web Token (RFC 7519), and verifies it with the signer's public key.
 * @throws Error if the signature is invalid.
 */
export function readToken(token: string, publicKey: KeyObject): ReadToken {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const signed = Buffer.from(`${header}.${claims}`);
  const key = { key: publicKey, dsaEncoding: "ieee-p1363" as const };
  if (!verify("sha256", signed, key, Buffer.from(signature, "base64url"))) throw new Error("the signature is wrong");
  const parse = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  return { header: parse(header), claims: parse(claims) };
}
