import type { ApnsAccount } from "../../../config/push-config.ts";
import { describeFailure, readRetryAfter } from "../../../delivery/outbound/attempt-failure.ts";
import { createApnsTokens } from "./apns-token.ts";
import { createHttp2Connection, type Http2Answer } from "./http2-connection.ts";
import type { PushAnswer, PushOptions, PushPayload, PushProvider } from "./provider.ts";

const origins = { production: "https://api.push.apple.com", sandbox: "https://api.sandbox.push.apple.com" };
/** Reasons about the account or its options: every message fails until these are corrected. */
const aboutAccount = new Set([
  "BadCertificate",
  "BadCertificateEnvironment",
  "BadTopic",
  "ExpiredProviderToken",
  "Forbidden",
  "InvalidProviderToken",
  "MissingProviderToken",
  "MissingTopic",
  "TopicDisallowed",
  "UnrelatedKeyIdInToken",
  "BadEnvironmentKeyIdInToken",
]);

interface ApnsDeps {
  /** Epoch milliseconds. */
  now: () => number;
  /** Where messages go instead of Apple's own address. */
  origin?: string;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
}

/** Sends to devices by Apple's push service, over one open connection. */
export function createApnsProvider(account: ApnsAccount, deps: ApnsDeps): PushProvider {
  const { now } = deps;
  const tokens = createApnsTokens(account, now);
  const connection = createHttp2Connection(
    deps.origin ?? (account.isSandbox ? origins.sandbox : origins.production),
    deps.ca,
  );
  /** Whether a message was accepted: until then an unknown token may belong to Apple's other environment. */
  let hasReached = false;

  async function post(device: string, payload: PushPayload, options: PushOptions, token: string) {
    const headers = {
      authorization: `bearer ${token}`,
      "apns-topic": account.topic,
      "apns-push-type": "alert",
      "apns-priority": options.urgency === "high" ? "10" : "5",
      "apns-expiration": String(Math.floor(now() / 1000) + options.ttlSeconds),
      ...(payload.tag !== undefined && { "apns-collapse-id": payload.tag }),
    };
    return connection.post(`/3/device/${device}`, headers, apnsText(payload), options.signal);
  }

  async function attempt(device: string, payload: PushPayload, options: PushOptions): Promise<Http2Answer> {
    const token = await tokens.get();
    const answer = await post(device, payload, options, token);
    if (reasonOf(answer) !== "ExpiredProviderToken" || !tokens.renew(token)) return answer;
    return post(device, payload, options, await tokens.get());
  }

  function readAnswer(answer: Http2Answer): PushAnswer {
    const { status, retryAfter } = answer;
    if (status === 200) {
      hasReached = true;
      return { status, retryAfterMs: 0, isGone: false, error: null };
    }
    const reason = reasonOf(answer);
    const error = `${status}${reason === "" ? "" : ` ${reason}`}`;
    if (aboutAccount.has(reason)) {
      const what = `Apple rejects the account (${error}): check the BODEGA_APNS_ options`;
      return { status: null, retryAfterMs: 0, isGone: false, error: what };
    }
    const isGone = status === 410 || (reason === "BadDeviceToken" && hasReached);
    return { status, retryAfterMs: readRetryAfter({ status, retryAfter }, now()), isGone, error };
  }

  return {
    async deliver(target, payload, options) {
      if (!("token" in target))
        return { status: 400, retryAfterMs: 0, isGone: true, error: "the target is not a device token" };
      try {
        return readAnswer(await attempt(target.token, payload, options));
      } catch (error) {
        if (options.signal.aborted) throw error;
        return { status: null, retryAfterMs: 0, isGone: false, error: describeFailure(error) };
      }
    },
    stop: () => connection.close(),
  };
}

/** The request body; everything beside `aps` is for the app. */
function apnsText({ title, body, url, data }: PushPayload): string {
  return JSON.stringify({
    aps: { alert: { title, body }, sound: "default" },
    ...(url !== undefined && { url }),
    ...(data !== undefined && { data }),
  });
}

/** Apple's reason, such as `BadDeviceToken`; empty if there is none. */
function reasonOf({ status, text }: Http2Answer): string {
  if (status === 200) return "";
  try {
    const { reason } = JSON.parse(text) as { reason?: unknown };
    return typeof reason === "string" && /^\w{1,60}$/.test(reason) ? reason : "";
  } catch {
    return "";
  }
}
