import type { ApnsAccount } from "../../../config/push-config.ts";

/** Apple takes a token for an hour, and a new one not more often than every twenty minutes. */
const lifeMs = 50 * 60_000;
const leastMs = 20 * 60_000;

/** The token by which Apple knows who sends; one for all messages of an hour. */
export interface ApnsTokens {
  get(): Promise<string>;
  /**
   * Has another one made, since Apple calls this one too old.
   * @returns false where that would be sooner than Apple permits.
   */
  renew(refused: string): boolean;
}

/** Signs the tokens of an account (ES256). @param now epoch milliseconds. */
export function createApnsTokens(account: ApnsAccount, now: () => number): ApnsTokens {
  let current: { token: string; at: number } | undefined;
  let making: Promise<string> | undefined;

  async function make(): Promise<string> {
    // Read only by those who send: it is needed by few.
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
