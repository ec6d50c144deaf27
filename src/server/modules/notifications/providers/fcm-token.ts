import type { FcmAccount } from "../../../config/push-config.ts";

const scope = "https://www.googleapis.com/auth/firebase.messaging";
/** A token that ends sooner is not used any more. */
const marginMs = 60_000;
const answerMs = 10_000;
const lifeSeconds = 3600;

/** Google does not give a token for the account. The message is for operators. */
export class TokenRefused extends Error {}

/** OAuth access tokens; each is used for an hour. */
export interface AccessTokens {
  /** @throws TokenRefused, or the error of the connection. */
  get(): Promise<string>;
  /** Discards a token that Google rejected. */
  renew(refused: string): void;
  /** Aborts a request in progress. */
  close(): void;
}

interface AccessTokenDeps {
  /** Epoch milliseconds. */
  now: () => number;
  /** Certificates to trust instead of the usual ones. */
  ca?: string | undefined;
}

/** Requests access tokens with assertions signed by the account's key (RFC 7523). */
export function createAccessTokens(account: FcmAccount, { now, ca }: AccessTokenDeps): AccessTokens {
  let current: { token: string; until: number } | undefined;
  let asking: Promise<string> | undefined;
  const closing = new AbortController();

  async function ask(): Promise<string> {
    const at = now();
    const body = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: await signAssertion(account, Math.floor(at / 1000)),
    });
    const answer = await fetch(account.tokenUri, {
      method: "POST",
      body,
      redirect: "manual",
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(answerMs)]),
      ...(ca !== undefined && { tls: { ca } }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw refusal(answer.status, text);
    const { token, seconds } = readToken(text);
    current = { token, until: at + seconds * 1000 - marginMs };
    return token;
  }

  return {
    async get() {
      if (current && now() < current.until) return current.token;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    renew(refused) {
      if (current?.token === refused) current = undefined;
    },
    close: () => closing.abort(),
  };
}

async function signAssertion(account: FcmAccount, now: number): Promise<string> {
  // Loaded only by servers that send to devices.
  const { importPKCS8, SignJWT } = await import("jose");
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(account.privateKeyId && { kid: account.privateKeyId }) })
    .setIssuer(account.clientEmail)
    .setAudience(account.tokenUri)
    .setIssuedAt(now)
    .setExpirationTime(now + lifeSeconds)
    .sign(await importPKCS8(account.privateKey, "RS256"));
}

function refusal(status: number, text: string): Error {
  const { error } = parse(text);
  const word = typeof error === "string" && /^[\w-]{1,60}$/.test(error) ? ` ${error}` : "";
  // An outage at Google ends by itself.
  if (status >= 500 || status === 429) return new Error(`Google issues no access token now (${status}${word})`);
  return new TokenRefused(`Google rejects the account (${status}${word}): check BODEGA_FCM_CREDENTIALS`);
}

function readToken(text: string): { token: string; seconds: number } {
  const { access_token: token, expires_in: seconds } = parse(text);
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new TokenRefused("Google answered without an access token: check token_uri in BODEGA_FCM_CREDENTIALS");
  }
  return { token, seconds: typeof seconds === "number" && seconds > 0 ? Math.min(seconds, lifeSeconds) : lifeSeconds };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
