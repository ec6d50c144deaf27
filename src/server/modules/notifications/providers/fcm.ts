import type { FcmAccount } from "../../../config/push-config.ts";
import { DeliveryFailure } from "../../../delivery/outbound.ts";
import {
  createDeviceProvider,
  createPost,
  type DeviceAnswer,
  type DeviceProviderDeps,
  readObject,
  readWord,
} from "./device-provider.ts";
import type { PushOptions, PushPayload, PushProvider } from "./provider.ts";

const googleOrigin = "https://fcm.googleapis.com";
const scope = "https://www.googleapis.com/auth/firebase.messaging";
const errorType = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
const requestType = "type.googleapis.com/google.rpc.BadRequest";
const marginMs = 60_000;
const tokenAnswerMs = 10_000;
const tokenSeconds = 3600;

export function createFcmProvider(account: FcmAccount, deps: DeviceProviderDeps): PushProvider {
  const { now, origin = googleOrigin } = deps;
  const url = `${origin}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
  const post = createPost(deps);
  return createDeviceProvider({
    now,
    async issueToken() {
      const body = new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: await signAssertion(account, Math.floor(now() / 1000)),
      });
      return readToken(await post(account.tokenUri, { body, signal: AbortSignal.timeout(tokenAnswerMs) }), now());
    },
    post: (device, payload, { token, ...options }) =>
      post(url, {
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: fcmText(device, payload, options),
        signal: options.signal,
      }),
    explain({ status, text }) {
      const { code, isAboutToken } = readError(text);
      // A missing project also causes a 404, so only these codes mean that the device is gone.
      const isGone = code === "UNREGISTERED" || isAboutToken;
      const isAboutAccount = status === 401 || ((status === 403 || status === 404) && code !== "SENDER_ID_MISMATCH");
      return { reason: code, isGone, isAboutAccount };
    },
    describeRejection: (error) => `Google rejects the account (${error}): check BODEGA_FCM_CREDENTIALS`,
  });
}

/** Signs an assertion that Google exchanges for an access token (RFC 7523). @param now epoch seconds. */
async function signAssertion(account: FcmAccount, now: number): Promise<string> {
  // Only servers that send to devices load this library.
  const { importPKCS8, SignJWT } = await import("jose");
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(account.privateKeyId && { kid: account.privateKeyId }) })
    .setIssuer(account.clientEmail)
    .setAudience(account.tokenUri)
    .setIssuedAt(now)
    .setExpirationTime(now + tokenSeconds)
    .sign(await importPKCS8(account.privateKey, "RS256"));
}

function readToken({ status, text: body }: DeviceAnswer, issuedAt: number) {
  const { access_token: text, error } = readObject(body);
  if (status !== 200 || typeof text !== "string") {
    const reason = [status, readWord(error)].join(" ").trim();
    // An outage at Google is temporary, and not a fault of the account.
    if (status >= 500 || status === 429) throw new Error(`Google issues no access token now (${reason})`);
    throw new DeliveryFailure(`Google rejects the account (${reason}): check BODEGA_FCM_CREDENTIALS`);
  }
  return { text, expiresAt: issuedAt + tokenSeconds * 1000 - marginMs };
}

function fcmText(token: string, { title, body, url, tag, data = {} }: PushPayload, options: PushOptions): string {
  const own = url === undefined ? data : { ...data, url };
  const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const texts = Object.entries(own).map(([name, value]) => [name, textOf(value)]);
  return JSON.stringify({
    message: {
      token,
      notification: { title, body },
      data: Object.fromEntries(texts),
      android: {
        ttl: `${options.ttlSeconds}s`,
        priority: options.urgency === "high" ? "HIGH" : "NORMAL",
        collapse_key: options.topic,
        ...(tag !== undefined && { notification: { tag } }),
      },
    },
  });
}

type ErrorDetail = { "@type"?: unknown; errorCode?: unknown; fieldViolations?: { field?: unknown }[] };

function readError(text: string): { code: string; isAboutToken: boolean } {
  const error = (readObject(text).error ?? {}) as { status?: unknown; details?: ErrorDetail[] };
  const details = Array.isArray(error.details) ? error.details : [];
  const detailOf = (type: string) => details.find((detail) => detail["@type"] === type);
  const code = readWord(detailOf(errorType)?.errorCode ?? error.status);
  const isAboutToken = detailOf(requestType)?.fieldViolations?.some(({ field }) => field === "message.token") ?? false;
  return { code, isAboutToken };
}
