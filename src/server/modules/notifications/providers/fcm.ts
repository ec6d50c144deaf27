import type { FcmAccount } from "../../../config/push-config.ts";
import { describeFailure, readRetryAfter } from "../../../delivery/outbound/attempt-failure.ts";
import { createAccessTokens, TokenRefused } from "./fcm-token.ts";
import { withSignal } from "./http2-connection.ts";
import type { PushAnswer, PushOptions, PushPayload, PushProvider } from "./provider.ts";

const googleOrigin = "https://fcm.googleapis.com";
const errorType = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
const requestType = "type.googleapis.com/google.rpc.BadRequest";

interface FcmDeps {
  /** Epoch milliseconds. */
  now: () => number;
  /** Where messages go instead of Google's own address. */
  origin?: string;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
}

interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** Sends to devices by Firebase Cloud Messaging (HTTP v1). */
export function createFcmProvider(account: FcmAccount, deps: FcmDeps): PushProvider {
  const { now, origin = googleOrigin, ca } = deps;
  const tokens = createAccessTokens(account, { now, ca });
  const url = `${origin}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;

  async function post(device: string, payload: PushPayload, options: PushOptions, token: string): Promise<Answer> {
    const answer = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: fcmText(device, payload, options),
      redirect: "manual",
      signal: options.signal,
      ...(ca !== undefined && { tls: { ca } }),
    });
    const retryAfter = answer.headers.get("retry-after") ?? undefined;
    return { status: answer.status, retryAfter, text: await answer.text() };
  }

  async function attempt(device: string, payload: PushPayload, options: PushOptions): Promise<Answer> {
    const token = await withSignal(tokens.get(), options.signal);
    const answer = await post(device, payload, options, token);
    if (answer.status !== 401) return answer;
    tokens.renew(token);
    return post(device, payload, options, await withSignal(tokens.get(), options.signal));
  }

  return {
    async deliver(target, payload, options) {
      if (!("token" in target))
        return { status: 400, retryAfterMs: 0, isGone: true, error: "the target is not a device token" };
      try {
        return readAnswer(await attempt(target.token, payload, options), now());
      } catch (error) {
        if (options.signal.aborted) throw error;
        const text = error instanceof TokenRefused ? error.message : describeFailure(error);
        return { status: null, retryAfterMs: 0, isGone: false, error: text };
      }
    },
    stop: () => tokens.close(),
  };
}

function readAnswer({ status, retryAfter, text }: Answer, now: number): PushAnswer {
  if (status === 200) return { status, retryAfterMs: 0, isGone: false, error: null };
  const { code, isAboutToken } = readError(text);
  const error = `${status}${code === "" ? "" : ` ${code}`}`;
  // A missing project is a 404 too: only these codes say that the device is gone.
  const isGone = code === "UNREGISTERED" || isAboutToken;
  const isAboutAccount = status === 401 || ((status === 403 || status === 404) && code !== "SENDER_ID_MISMATCH");
  if (isAboutAccount && !isGone) {
    const what = `Google rejects the account (${error}): check BODEGA_FCM_CREDENTIALS`;
    return { status: null, retryAfterMs: 0, isGone, error: what };
  }
  return { status, retryAfterMs: readRetryAfter({ status, retryAfter }, now), isGone, error };
}

/** The request body; `data` is for the app, and may hold strings only. */
function fcmText(token: string, { title, body, url, tag, data = {} }: PushPayload, options: PushOptions): string {
  const own = url === undefined ? data : { ...data, url };
  const texts = Object.entries(own).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return JSON.stringify({
    message: {
      token,
      notification: { title, body },
      data: Object.fromEntries(texts),
      android: {
        ttl: `${options.ttlSeconds}s`,
        priority: options.urgency === "high" ? "HIGH" : "NORMAL",
        ...(options.topic !== undefined && { collapse_key: options.topic }),
        ...(tag !== undefined && { notification: { tag } }),
      },
    },
  });
}

interface ErrorDetail {
  "@type"?: unknown;
  errorCode?: unknown;
  fieldViolations?: { field?: unknown }[];
}

/** Google's error code, empty if there is none, and whether it rejects the device's token. */
function readError(text: string): { code: string; isAboutToken: boolean } {
  try {
    const { error } = JSON.parse(text) as { error: { status?: unknown; details?: ErrorDetail[] } };
    const details = error.details ?? [];
    const given = details.find((detail) => detail["@type"] === errorType)?.errorCode ?? error.status;
    const fields = details.find((detail) => detail["@type"] === requestType)?.fieldViolations ?? [];
    return {
      code: typeof given === "string" && /^\w{1,60}$/.test(given) ? given : "",
      isAboutToken: fields.some(({ field }) => field === "message.token"),
    };
  } catch {
    return { code: "", isAboutToken: false };
  }
}
