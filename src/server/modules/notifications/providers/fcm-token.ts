import type { FcmAccount } from "../../../config/push-config.ts";

const scope = "https://www.googleapis.com/auth/firebase.messaging";
/** A token that ends sooner is not used any more. */
const marginMs = 60_000;
const answerMs = 10_000;
const lifeSeconds = 3600;

/** Google does not give a token for the account. The message is for operators. */
export class TokenRefused extends Error {}

/** The tokens by which Google knows who sends; one for all messages of an hour. */
export interface AccessTokens {
  /** @throws TokenRefused, or the error of the connection. */
  get(): Promise<string>;
  /** Has another one asked for, since this one is not taken any more. */
  renew(refused: string): void;
  /** Breaks off what is under way. */
  close(): void;
}

interface AccessTokenDeps {
  /** Epoch milliseconds. */
  now: () => number;
  /** Certificates to trust instead of the usual ones. */
  ca?: string | undefined;
}

/** Asks for access tokens with assertions that the account's key signs (RFC 7523). */
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
  // Read only by those who send: it is needed by few.
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
  // Google's own trouble passes by itself.
  if (status >= 500 || status === 429) return new Error(`Google gives no access token now (${status}${word})`);
  return new TokenRefused(`Google refuses the account (${status}${word}): see BODEGA_FCM_CREDENTIALS`);
}

function readToken(text: string): { token: string; seconds: number } {
  const { access_token: token, expires_in: seconds } = parse(text);
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new TokenRefused("Google has answered without an access token: see token_uri in BODEGA_FCM_CREDENTIALS");
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
