import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { attempt } from "../values/attempt.ts";
import { LruCache } from "../values/lru-cache.ts";

/** Purposes of encryption and hashing. Each purpose has its own key, which is derived from the secret. */
export type VaultPurpose =
  | "two-factor"
  | "recovery-code"
  | "mail-code"
  | "mail"
  | "idempotency"
  | "order"
  | "webhook"
  | "visitor"
  | "view"
  | "limit"
  | "push"
  | "replica"
  | "payment"
  | "certificate";

export type Vault = ReturnType<typeof createVault>;

const nonceBytes = 12;
const tagBytes = 16;

/** `readSecret` is called at the vault's first use, so that no file is created before a secret is needed. */
export function createVault(readSecret: () => string) {
  const keys = new LruCache<Buffer>(100);
  const hashers = new LruCache<Bun.CryptoHasher>(100);
  const keyOf = (use: string) =>
    keys.getOrMake(use, () => Buffer.from(hkdfSync("sha256", readSecret(), "", `bodega ${use}`, 32)));
  return {
    /** Encrypts with AES-256-GCM. The text can be decrypted only with the same `place`, such as a row's id. */
    seal(purpose: VaultPurpose, place: string, text: string) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", keyOf(`seal ${purpose}`), nonce).setAAD(Buffer.from(place));
      const bytes = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return bytes.toString("base64url");
    },
    /** Decrypts a text. Returns null if it was encrypted with another key or for another place, or was altered. */
    open(purpose: VaultPurpose, place: string, sealed: string) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < nonceBytes + tagBytes) return null;
      const decipher = createDecipheriv("aes-256-gcm", keyOf(`seal ${purpose}`), bytes.subarray(0, nonceBytes))
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(-tagBytes));
      const read = () => Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      return attempt(read)?.toString("utf8") ?? null;
    },
    /** Returns the HMAC-SHA256 of a text in hex, which cannot be computed without the key. */
    mac(purpose: VaultPurpose, text: string) {
      // Every visitor token needs a keyed hasher. Copying one takes half as long as creating one.
      const hasher = hashers.getOrMake(purpose, () => new Bun.CryptoHasher("sha256", keyOf(`mac ${purpose}`)));
      return hasher.copy().update(text).digest("hex");
    },
    /** Identifies the key without revealing it. */
    fingerprint: () => keyOf("fingerprint").toString("hex").slice(0, 32),
  };
}
