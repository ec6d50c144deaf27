import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";
const secretBytes = 32;

/** A new signing secret (Standard Webhooks): `whsec_` and 256 random bits in base64. */
export function newSigningSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString("base64")}`;
}

/** Returns the headers that sign a message. `id` is the event's, in every attempt; `at` is epoch milliseconds. */
export function signatureHeaders(secret: string, id: string, at: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "Webhook-Id": id, "Webhook-Timestamp": timestamp, "Webhook-Signature": `v1,${mac}` };
}
