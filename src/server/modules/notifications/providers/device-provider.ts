import { withSignal } from "../../../concurrency/with-timeout.ts";
import type { Answer } from "../../../delivery/channel.ts";
import { DeliveryFailure, readRetryAfter } from "../../../delivery/outbound.ts";
import { attempt } from "../../../values/attempt.ts";
import { explainPush, type PushOptions, type PushPayload, type PushProvider } from "./provider.ts";

/** An access token of the account. `expiresAt` is in epoch milliseconds. */
type AccessToken = { text: string; expiresAt: number };

export interface DeviceProviderDeps {
  now: () => number;
  origin?: string;
  ca?: string;
}

export interface DeviceAnswer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

interface DeviceService {
  now: () => number;
  issueToken(): Promise<AccessToken>;
  post(device: string, payload: PushPayload, options: PushOptions & { token: string }): Promise<DeviceAnswer>;
  /** Explains an unsuccessful answer. `reason` is the service's own code, empty without one. */
  explain(answer: DeviceAnswer): { reason: string; isGone: boolean; isAboutAccount: boolean };
  describeRejection(error: string): string;
}

/** Returns a function that posts to a service over connections of its own. */
export function createPost({ ca }: DeviceProviderDeps, options: BunFetchRequestInit = {}) {
  const connect = () => new Bun.FetchSession(ca === undefined ? {} : { tls: { ca } });
  let session = connect();
  return async (url: string, init: RequestInit & { signal: AbortSignal }): Promise<DeviceAnswer> => {
    const used = session;
    try {
      const answer = await used.fetch(url, { method: "POST", redirect: "manual", ...options, ...init });
      const retryAfter = answer.headers.get("retry-after") ?? undefined;
      return { status: answer.status, retryAfter, text: await answer.text() };
    } catch (error) {
      // A connection without an answer in time may be dead, so it is not used again.
      if (init.signal.aborted) {
        used.close();
        if (session === used) session = connect();
      }
      throw error;
    }
  };
}

export function createDeviceProvider(service: DeviceService): PushProvider {
  const { now } = service;
  let current: AccessToken | undefined;
  let issuing: Promise<AccessToken> | undefined;

  async function authorize(signal: AbortSignal): Promise<AccessToken> {
    if (current && now() < current.expiresAt) return current;
    issuing ??= service
      .issueToken()
      .then((token) => (current = token))
      .finally(() => (issuing = undefined));
    return withSignal(issuing, signal);
  }

  function readAnswer(answer: DeviceAnswer): Answer {
    const { status } = answer;
    if (status === 200) return explainPush({ status, retryAfterMs: 0, isGone: false, error: null });
    const { reason, isGone, isAboutAccount } = service.explain(answer);
    const error = `${status}${reason === "" ? "" : ` ${reason}`}`;
    // Every message fails until the account is corrected.
    if (isAboutAccount && !isGone) throw new DeliveryFailure(service.describeRejection(error));
    return explainPush({ status, retryAfterMs: readRetryAfter(answer, now()), isGone, error });
  }

  return {
    async deliver(target, payload, options) {
      if (!("token" in target)) throw new TypeError("A device has a token.");
      const token = await authorize(options.signal);
      const answer = await service.post(target.token, payload, { ...options, token: token.text });
      // Google rejects the token, so the next attempt gets a new one. Apple never answers 401, and limits new tokens.
      if (answer.status === 401 && current === token) current = undefined;
      return readAnswer(answer);
    },
  };
}

/** Returns a word such as `BadDeviceToken`, which logs may show. Any other value becomes an empty text. */
export function readWord(value: unknown): string {
  return typeof value === "string" && /^[\w-]{1,60}$/.test(value) ? value : "";
}

export function readObject(text: string): Record<string, unknown> {
  return attempt(() => Object(JSON.parse(text))) ?? {};
}
