import { isDown, type Lookup, postMessage, RefusedAddress, readRetryAfter } from "../../../delivery/outbound.ts";
import type { SendPush } from "./provider.ts";

/** The contact for push services if none is configured: some of them refuse messages without a contact. */
const noContact = "mailto:push@store.invalid";

export interface WebPushDeps {
  readKeys: () => Promise<{ publicKey: string; privateKey: string }>;
  now: () => number;
  allowPrivate: boolean;
  contact?: string | undefined;
  lookup?: Lookup | undefined;
  ca?: string | undefined;
}

/** Sends to browsers, encrypted (RFC 8291) and signed (RFC 8292). Each attempt checks the endpoint's IP address. */
export function createWebPush(deps: WebPushDeps): SendPush {
  const { allowPrivate, lookup, ca, contact: subject = noContact } = deps;
  return async (subscription, payload, { ttlSeconds: TTL, urgency, topic, signal }) => {
    const url = new URL(subscription.endpoint);
    if (url.protocol !== "https:" && !allowPrivate) throw new RefusedAddress("only https endpoints are allowed");
    const vapidDetails = { subject, ...(await deps.readKeys()) };
    const { generateRequestDetails } = (await import("web-push")).default;
    const options = { vapidDetails, TTL, urgency, ...(topic !== undefined && { topic }) };
    const { headers, body } = generateRequestDetails(subscription, JSON.stringify(payload), options);
    const answer = await postMessage({ url, allowPrivate, headers, body, signal, lookup, ca });
    const { status } = answer;
    const retryAfterMs = readRetryAfter(answer, deps.now());
    if (status >= 200 && status < 300) return { result: "accepted", status, retryAfterMs, error: null };
    const isGone = status === 404 || status === 410;
    const isFinal = isGone || !isDown(status);
    // Operators read this text, so it contains neither the endpoint nor the service's reply.
    const error = `${status}: the push service did not accept it`;
    return { result: isFinal ? "refused" : "failed", isFinal, isGone, status, retryAfterMs, error };
  };
}
