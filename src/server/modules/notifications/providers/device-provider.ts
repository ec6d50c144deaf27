import { withSignal } from "../../../concurrency/with-timeout.ts";
import type { Answer } from "../../../delivery/channel.ts";
import { DeliveryFailure, readRetryAfter } from "../../../delivery/outbound/attempt-failure.ts";
import { attempt } from "../../../values/attempt.ts";
import type { Http2Answer } from "./http2-connection.ts";
import { explainPush, type PushOptions, type PushPayload, type PushProvider } from "./provider.ts";

/** An access token of the account. Times are epoch milliseconds. */
type AccessToken = { text: string; issuedAt: number; expiresAt: number };

export interface DeviceProviderDeps {
  now: () => number;
  origin?: string;
  ca?: string;
}

interface DeviceService {
  now: () => number;
  issueToken(): Promise<AccessToken>;
  /** A rejected token is replaced only if it is older than this. */
  minTokenMs: number;
  isTokenRejected(answer: Http2Answer): boolean;
  post(device: string, payload: PushPayload, options: PushOptions & { token: string }): Promise<Http2Answer>;
  /** Explains an unsuccessful answer. `reason` is the service's own code, empty without one. */
  explain(answer: Http2Answer): { reason: string; isGone: boolean; isAboutAccount: boolean };
  describeRejection(error: string): string;
  stop(): void;
}

export function createDeviceProvider(service: DeviceService): PushProvider {
  const { now } = service;
  let current: AccessToken | undefined;
  let issuing: Promise<AccessToken> | undefined;

  async function authorize(signal: AbortSignal): Promise<AccessToken> {
    if (current && now() < current.expiresAt) return current;
    issuing ??= issue();
    return withSignal(issuing, signal);
  }

  async function issue(): Promise<AccessToken> {
    try {
      current = await service.issueToken();
      return current;
    } finally {
      issuing = undefined;
    }
  }

  async function attempt(device: string, payload: PushPayload, options: PushOptions): Promise<Http2Answer> {
    const token = await authorize(options.signal);
    const answer = await service.post(device, payload, { ...options, token: token.text });
    if (!service.isTokenRejected(answer)) return answer;
    if (current === token) {
      if (now() - token.issuedAt < service.minTokenMs) return answer;
      current = undefined;
    }
    const next = await authorize(options.signal);
    return service.post(device, payload, { ...options, token: next.text });
  }

  function readAnswer(answer: Http2Answer): Answer {
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
      return readAnswer(await attempt(target.token, payload, options));
    },
    stop: () => service.stop(),
  };
}

/** Returns the value if it is a word such as `BadDeviceToken`, else an empty text, because logs show it. */
export function readWord(value: unknown): string {
  return typeof value === "string" && /^[\w-]{1,60}$/.test(value) ? value : "";
}

export function readObject(text: string): Record<string, unknown> {
  return attempt(() => Object(JSON.parse(text))) ?? {};
}
