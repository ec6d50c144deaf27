import type { ApnsAccount } from "../../../config/push-config.ts";

/** Apple accepts a token for an hour, and a new one every twenty minutes at most. */
const lifeMs = 50 * 60_000;
const leastMs = 20 * 60_000;

/** Provider tokens; each is used for most of an hour. */
export interface ApnsTokens {
  get(): Promise<string>;
  /** Discards a token that Apple calls expired. Returns false if that is sooner than Apple permits a new one. */
  renew(refused: string): boolean;
}

/** Signs the tokens of an account (ES256). @param now epoch milliseconds. */
export function createApnsTokens(account: ApnsAccount, now: () => number): ApnsTokens {
  let current: { token: string; at: number } | undefined;
  let making: Promise<string> | undefined;

  async function make(): Promise<string> {
    // Loaded only by servers that send to devices.
    const { importPKCS8, SignJWT } = await import("jose");
    const at = now();
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: account.keyId })
      .setIssuer(account.teamId)
      .setIssuedAt(Math.floor(at / 1000))
      .sign(await importPKCS8(account.key, "ES256"));
    current = { token, at };
    return token;
  }

  return {
    async get() {
      if (current && now() - current.at < lifeMs) return current.token;
      making ??= make().finally(() => {
        making = undefined;
      });
      return making;
    },
    renew(refused) {
      if (!current || current.token !== refused) return true;
      if (now() - current.at < leastMs) return false;
      current = undefined;
      return true;
    },
  };
}
