import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";

/** A browser that subscribes to push messages. Only it has the keys that decrypt them. */
export interface PushBrowser {
  /** The public keys of the subscription, in base64url. */
  keys: { p256dh: string; auth: string };
  /** Decrypts a message. Throws if it is for another browser, or was changed. */
  decrypt: (body: Uint8Array) => string;
}

const extract = (salt: Uint8Array, key: Uint8Array, info: Uint8Array | string, bytes: number) =>
  Buffer.from(hkdfSync("sha256", key, salt, info, bytes));

/** Creates a browser, by default with new keys. Decrypts as in RFC 8291, section 3, and RFC 8188. */
export function createBrowser(given: { privateKey?: string; auth?: string } = {}): PushBrowser {
  const pair = createECDH("prime256v1");
  if (given.privateKey === undefined) pair.generateKeys();
  else pair.setPrivateKey(Buffer.from(given.privateKey, "base64url"));
  const auth = given.auth === undefined ? randomBytes(16) : Buffer.from(given.auth, "base64url");
  const own = pair.getPublicKey();
  return {
    keys: { p256dh: own.toString("base64url"), auth: auth.toString("base64url") },
    decrypt(body) {
      const bytes = Buffer.from(body);
      const salt = bytes.subarray(0, 16);
      const keyEnd = 21 + bytes.readUInt8(20);
      const senders = bytes.subarray(21, keyEnd);
      const record = bytes.subarray(keyEnd);
      if (record.length > bytes.readUInt32BE(16)) throw new Error("The message has more than one record.");
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), own, senders]);
      const key = extract(auth, pair.computeSecret(senders), info, 32);
      const decipher = createDecipheriv(
        "aes-128-gcm",
        extract(salt, key, "Content-Encoding: aes128gcm\0", 16),
        extract(salt, key, "Content-Encoding: nonce\0", 12),
      ).setAuthTag(record.subarray(-16));
      const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
      const end = padded.lastIndexOf(2);
      if (end < 0 || padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error("The padding is wrong.");
      return padded.subarray(0, end).toString("utf8");
    },
  };
}

/**
 * Verifies the signature in a message's `Authorization` header. Returns the claims.
 * @param publicKey the server's key with which browsers subscribe.
 */
export function readVapid(authorization: string, publicKey: string): { aud: string; exp: number; sub: string } {
  const [, token = "", key] = /^vapid t=([^,]+), k=(\S+)$/.exec(authorization) ?? [];
  if (key !== publicKey) throw new Error(`It was signed with other keys: ${authorization}`);
  const [header = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(publicKey, "base64url");
  const x = point.subarray(1, 33).toString("base64url");
  const y = point.subarray(33).toString("base64url");
  const verifier = {
    key: createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" }),
    dsaEncoding: "ieee-p1363" as const,
  };
  const isSigned = verify("sha256", Buffer.from(`${header}.${claims}`), verifier, Buffer.from(signature, "base64url"));
  if (!isSigned || parsePart(header).alg !== "ES256") throw new Error("The signature is wrong.");
  return parsePart(claims);
}

function parsePart(text: string) {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}
