import { type Lookup, postMessage, RefusedAddress, readRetryAfter } from "../../../delivery/outbound.ts";
import { explainPush, type PushProvider } from "./provider.ts";

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
  const { allowPrivate, lookup, ca, contact: subject = noContact } = deps;
  return {
    serviceOf: (target) => ("endpoint" in target ? new URL(target.endpoint).host : ""),

    async deliver(target, payload, { ttlSeconds: TTL, urgency, topic, signal }) {
      if (!("endpoint" in target)) throw new TypeError("A browser has an endpoint.");
      const url = new URL(target.endpoint);
      if (url.protocol !== "https:" && !allowPrivate) throw new RefusedAddress("only https endpoints are allowed");
      const vapidDetails = { subject, ...(await deps.readKeys()) };
      const { generateRequestDetails } = (await import("web-push")).default;
      const options = { vapidDetails, TTL, urgency, ...(topic !== undefined && { topic }) };
      const { headers, body } = generateRequestDetails(target, JSON.stringify(payload), options);
      const answer = await postMessage({ url, allowPrivate, headers, body, signal, lookup, ca });
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
