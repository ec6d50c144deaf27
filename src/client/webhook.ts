import type { components } from "./types.generated.ts";

/** An event of a store, as webhooks deliver it. */
export type WebhookEvent = components["schemas"]["Event"] & { namespace: string };

/** A received message: its headers, and its unparsed body. */
export interface WebhookMessage {
  /** Headers by name, in any case. */
  headers: Headers | Record<string, string | string[] | undefined>;
  body: string;
}

/** Maximum age of a message in seconds, and maximum difference between the clocks of sender and receiver. */
const tolerance = 300;

/**
 * Returns the event of a webhook's message if the store has signed it (Standard Webhooks); otherwise null. A delivery
 * may arrive twice: ignore an event whose `id` you have seen.
 * @param secret `whsec_…`; while a new secret replaces an old one, a list of both.
 */
export async function verifyWebhook(
  message: Request | WebhookMessage,
  secret: string | readonly string[],
): Promise<WebhookEvent | null> {
  const { headers } = message;
  const pairs = [...(headers instanceof Headers ? headers : Object.entries(headers))];
  const named = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  const read = (name: string) => String(named[name] ?? "");
  const at = Number(read("webhook-timestamp"));
  if (!(Math.abs(Date.now() / 1000 - at) <= tolerance)) return null;
  const body = message instanceof Request ? await message.text() : message.body;
  const signed = new TextEncoder().encode(`${read("webhook-id")}.${read("webhook-timestamp")}.${body}`);
  for (const one of [secret].flat()) {
    const bytes = decode(one.replace(/^whsec_/, ""));
    if (!bytes?.length) continue;
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of read("webhook-signature").split(" ")) {
      const sent = signature.startsWith("v1,") && decode(signature.slice(3));
      // `verify` compares the signatures in constant time.
      if (sent && (await crypto.subtle.verify("HMAC", key, sent, signed))) return JSON.parse(body);
    }
  }
  return null;
}

/** Decodes base64; null for anything else. */
function decode(text: string) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
