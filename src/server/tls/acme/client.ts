import { createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, FlattenedSign } from "jose";
import { attempt } from "../../values/attempt.ts";

const callMs = 30_000;
const pollMs = 1000;
const maxNonces = 5;

export type Problem = { type?: string; detail?: string };
type Directory = Record<"newNonce" | "newAccount" | "newOrder", string> & { renewalInfo?: string };

/** An error that a certificate authority returns. `type` is the last part of its URN, such as `dns` or `caa`. */
export class AcmeProblem extends Error {
  readonly type: string;
  readonly retryAfterMs: number;

  constructor({ type = "", detail = type }: Problem, retryAfterMs = 0) {
    super(detail);
    this.type = type.replace(/^urn:ietf:params:acme:error:/, "");
    this.retryAfterMs = retryAfterMs;
  }
}

export type AcmeClient = Awaited<ReturnType<typeof openAcme>>;

/**
 * Reads the directory of a certificate authority (RFC 8555). Each function throws AcmeProblem for an error that the
 * authority answers, and the errors of `fetch`.
 */
export async function openAcme(url: string, account: KeyObject, signal: AbortSignal) {
  let nonce: string | null = null;
  let accountUrl: string | null = null;
  const jwk = await exportJWK(createPublicKey(account));
  const directory: Directory = JSON.parse((await call(url)).text);

  async function call(url: string, init: RequestInit = {}) {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(callMs)]) });
    const { headers } = response;
    nonce = headers.get("replay-nonce");
    const text = await response.text();
    if (response.ok) return { text, headers };
    const retryAfterMs = Number(headers.get("retry-after") ?? 0) * 1000 || 0;
    throw new AcmeProblem(attempt(() => JSON.parse(text)) ?? { detail: `status ${response.status}` }, retryAfterMs);
  }

  /** Sends a request that is signed with the account's key. Without a payload, it only reads. */
  async function post(url: string, payload?: object, tries = maxNonces): ReturnType<typeof call> {
    if (nonce === null) await call(directory.newNonce, { method: "HEAD" });
    const identity = accountUrl === null ? { jwk } : { kid: accountUrl };
    const bytes = new TextEncoder().encode(payload && JSON.stringify(payload));
    const jws = new FlattenedSign(bytes).setProtectedHeader({ alg: "ES256", nonce: nonce ?? "", url, ...identity });
    const body = JSON.stringify(await jws.sign(account));
    try {
      return await call(url, { method: "POST", headers: { "content-type": "application/jose+json" }, body });
    } catch (error) {
      if (tries > 1 && error instanceof AcmeProblem && error.type === "badNonce") return post(url, payload, tries - 1);
      throw error;
    }
  }

  return {
    directory,
    post,
    /** Reads the window in which the authority suggests to renew, in epoch milliseconds; undefined if there is none. */
    async readWindow(url: string) {
      const info = await call(url)
        .then(({ text }) => JSON.parse(text))
        .catch(() => undefined);
      const [start, end] = [Date.parse(info?.suggestedWindow?.start), Date.parse(info?.suggestedWindow?.end)];
      return start <= end ? { start, end } : undefined;
    },
    /** The key authorization, which answers the challenge with this token (RFC 8555, section 8.1). */
    answerTo: async (token: string) => `${token}.${await calculateJwkThumbprint(jwk)}`,
    /** Finds or creates the account of the key. */
    async signUp(email: string | undefined) {
      const contact = email === undefined ? [] : [`mailto:${email}`];
      const { headers } = await post(directory.newAccount, { termsOfServiceAgreed: true, contact });
      accountUrl = headers.get("location");
    },
    /** Reads an order or an authorization until its status is none of `open`. Throws when the signal aborts. */
    async poll<T extends { status: string }>(url: string, open: readonly string[]): Promise<T> {
      for (;;) {
        const found: T = JSON.parse((await post(url)).text);
        if (!open.includes(found.status)) return found;
        await Bun.sleep(pollMs);
      }
    },
  };
}
