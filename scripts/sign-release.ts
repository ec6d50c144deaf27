import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { attempt } from "../src/server/values/attempt.ts";

/** Reads an Ed25519 key in PEM, as `openssl genpkey -algorithm ed25519` makes it. Throws Error for another key. */
export function readReleaseKey(path: string): KeyObject {
  const key = attempt(() => createPrivateKey(readFileSync(path)));
  if (key?.asymmetricKeyType === "ed25519") return key;
  throw new Error(`${path} is not an Ed25519 key in PEM. Make one: openssl genpkey -algorithm ed25519 -out key.pem`);
}

/** Returns the public key and its id in the formats of minisign. The id is the beginning of the key's hash. */
function describeKey(key: KeyObject) {
  // The last 32 bytes of this encoding are the key itself.
  const bytes = createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-32);
  const id = createHash("sha256").update(bytes).digest().subarray(0, 8);
  const text = Buffer.concat([Buffer.from("Ed"), id, bytes]).toString("base64");
  return { id, name: Buffer.from(id).reverse().toString("hex").toUpperCase(), text };
}

/** Writes a signature for minisign beside the file. Returns the public key for `minisign -P`. */
export function signFile(path: string, key: KeyObject, at: Date): string {
  const { id, name, text } = describeKey(key);
  const hash = createHash("blake2b512").update(readFileSync(path)).digest();
  const signature = sign(null, hash, key);
  const comment = `timestamp:${Math.floor(at.getTime() / 1000)}\tfile:${basename(path)}\thashed`;
  // "ED" means that the hash of the file is signed. The second signature also covers the comment.
  const whole = Buffer.concat([Buffer.from("ED"), id, signature]).toString("base64");
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key).toString("base64");
  const lines = [`untrusted comment: signature with the key ${name}`, whole, `trusted comment: ${comment}`, global];
  writeFileSync(`${path}.minisig`, `${lines.join("\n")}\n`);
  return text;
}
