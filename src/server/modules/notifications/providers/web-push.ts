import {
  type Lookup,
  lookupAddresses,
  postMessage,
  RefusedAddress,
  readRetryAfter,
  resolveAddresses,
} from "../../../delivery/outbound.ts";
import { LruCache } from "../../../values/lru-cache.ts";
import { explainPush, type PushProvider } from "./provider.ts";

/** Tokens are valid for twelve hours. Signing one takes longer than the rest of an attempt. */
const tokenMs = 6 * 3_600_000;
const minTokens = 500;
const encoding = "aes128gcm";

/** Some push services refuse a message without a contact. */
const noContact = "mailto:push@store.invalid";

export interface WebPushDeps {
  readKeys: () => Promise<{ publicKey: string; privateKey: string }>;
  now: () => number;
  allowPrivate: boolean;
  contact?: string | undefined;
  lookup?: Lookup | undefined;
  ca?: string | undefined;
}

/** Sends to browsers, encrypted (RFC 8291) and signed (RFC 8292). Each attempt checks the address. */
export function createWebPush(deps: WebPushDeps): PushProvider {
  const { lookup = lookupAddresses, contact = noContact } = deps;
  const tokens = new LruCache<{ header: string; until: number }>(minTokens);

  async function authorize(audience: string): Promise<string> {
    const kept = tokens.get(audience);
    if (kept && kept.until > deps.now()) return kept.header;
    const { publicKey, privateKey } = await deps.readKeys();
    const { getVapidHeaders } = await loadLibrary();
    const { Authorization: header } = getVapidHeaders(audience, contact, publicKey, privateKey, encoding);
    tokens.set(audience, { header, until: deps.now() + tokenMs });
    return header;
  }

  return {
    serviceOf: (target) => ("endpoint" in target ? new URL(target.endpoint).host : ""),

    async deliver(target, payload, { ttlSeconds, urgency, topic, signal }) {
      if (!("endpoint" in target)) throw new TypeError("A browser has an endpoint.");
      const { endpoint, keys } = target;
      const url = new URL(endpoint);
      const { encrypt } = await loadLibrary();
      const { cipherText } = encrypt(keys.p256dh, keys.auth, JSON.stringify(payload), encoding);
      const headers = {
        Authorization: await authorize(url.origin),
        "Content-Encoding": encoding,
        "Content-Type": "application/octet-stream",
        TTL: String(ttlSeconds),
        Urgency: urgency,
        ...(topic !== undefined && { Topic: topic }),
      };
      if (url.protocol !== "https:" && !deps.allowPrivate) throw new RefusedAddress("only https endpoints are allowed");
      const addresses = await resolveAddresses(url, deps.allowPrivate, lookup);
      const answer = await postMessage({ url, addresses, headers, body: cipherText, signal, ca: deps.ca });
      const { status } = answer;
      const error = status >= 200 && status < 300 ? null : `${status}: ${describeRefusal(status)}`;
      const isGone = status === 404 || status === 410;
      return explainPush({ status, retryAfterMs: readRetryAfter(answer, deps.now()), isGone, error });
    },
  };
}

function describeRefusal(status: number): string {
  if (status === 404 || status === 410) return "the subscription does not exist any more";
  if (status === 401 || status === 403) return "the push service rejects this server's keys";
  if (status === 413) return "the message is too long";
  if (status >= 300 && status < 400) return "redirects are not followed";
  return "the push service did not accept it";
}

async function loadLibrary() {
  return (await import("web-push")).default;
}
