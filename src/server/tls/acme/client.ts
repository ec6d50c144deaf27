import { createPublicKey, type KeyObject, type X509Certificate } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, FlattenedSign } from "jose";
import { attempt } from "../../values/attempt.ts";
import { renewalIdOf } from "./signing-request.ts";

const callMs = 30_000;
const pollMs = 1000;
const maxNonces = 5;

export type Problem = { type?: string; detail?: string };
type Directory = Record<"newNonce" | "newAccount" | "newOrder", string> & { renewalInfo?: string };

/** An error that a certificate authority returned. `type` is the last part of the error's URN, such as `dns`. */
export class AcmeProblem extends Error {
  readonly type: string;

  constructor({ type = "", detail = type }: Problem) {
    super(detail);
    this.type = type.replace(/^urn:ietf:params:acme:error:/, "");
  }
}

export type AcmeClient = Awaited<ReturnType<typeof openAcme>>;

/**
 * Returns a client of a certificate authority (RFC 8555). Its functions throw AcmeProblem if the authority refuses, and
 * the errors of `fetch`.
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
    throw new AcmeProblem(attempt(() => JSON.parse(text)) ?? { detail: `status ${response.status}` });
  }

  /** Sends a request that is signed with the account's key. A request without a payload only reads. */
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
    /** Returns the window, in epoch milliseconds, in which the authority suggests to renew; undefined without one. */
    async readWindow(certificate: X509Certificate) {
      const { renewalInfo } = directory;
      const id = renewalIdOf(certificate);
      if (renewalInfo === undefined || id === undefined) return undefined;
      const info = await call(`${renewalInfo}/${id}`)
        .then(({ text }) => JSON.parse(text))
        .catch(() => undefined);
      const [start, end] = [Date.parse(info?.suggestedWindow?.start), Date.parse(info?.suggestedWindow?.end)];
      return start <= end ? { start, end } : undefined;
    },
    /** Returns the key authorization, which answers the challenge with this token (RFC 8555, section 8.1). */
    answerTo: async (token: string) => `${token}.${await calculateJwkThumbprint(jwk)}`,
    /** Finds or creates the account of the key. Later requests name this account. */
    async signUp(email: string | undefined) {
      const contact = email === undefined ? [] : [`mailto:${email}`];
      const { headers } = await post(directory.newAccount, { termsOfServiceAgreed: true, contact });
      accountUrl = headers.get("location");
    },
    /** Reads an order or an authorization until its status is not in `open`. Throws when the signal aborts. */
    async poll<T extends { status: string }>(url: string, open: readonly string[]): Promise<T> {
      for (;;) {
        const found: T = JSON.parse((await post(url)).text);
        if (!open.includes(found.status)) return found;
        await Bun.sleep(pollMs);
      }
    },
  };
}
