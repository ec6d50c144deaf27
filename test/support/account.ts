import { inTransaction } from "../../src/server/db/transaction.ts";
import { hashPassword } from "../../src/server/modules/passwords/password-hash.ts";
import { issueToken } from "../../src/server/modules/tokens/service.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { type ApiReply, type CallOptions, createClient } from "./client.ts";
import { type Shop, tenantContext } from "./factories.ts";
import { codeAt } from "./totp.ts";

/** Two passwords that satisfy every rule. */
export const goodPassword = "Vermilion-Kettle-4871";
export const otherPassword = "Cobalt+Teapot+1593!";

/** A signed-in user of a shop, with a password and an authenticator. */
export interface Account {
  id: string;
  email: string;
  token: string;
  /** Calls the API with namespace and token, from a new address each time. */
  call: <T = Record<string, unknown>>(request: string, options?: CallOptions) => Promise<ApiReply<T>>;
  /** Returns the authenticator's current code, or its code after `later` half minutes. */
  code: (later?: number) => Promise<string>;
  /** Returns a code that is wrong now, and in the half minutes before and after. */
  wrongCode: () => Promise<string>;
  /** Begins to enable two-factor sign-in. The authenticator then has the secret. */
  begin: () => Promise<{ secret: string; otpauth_uri: string; qr_svg: string }>;
  /** Enables two-factor sign-in. Moves the clock to the next code, because the current one is used. */
  enrol: () => Promise<string[]>;
}

let accounts = 0;
let goodHash: Promise<string> | undefined;

/** Creates a user of a shop, and issues a token as a login does. */
export async function openAccount(
  shop: Shop,
  options: { email?: string; role?: "customer" | "staff" | "owner" } = {},
): Promise<Account> {
  const { app, namespace } = shop;
  const ctx = await tenantContext(shop);
  accounts += 1;
  const email = options.email ?? `user-${accounts}@example.com`;
  // All tests of a process share one hash, because computing a hash is slow.
  goodHash ??= hashPassword(goodPassword);
  const { id } = await createUser(ctx, { ...options, email, password_hash: await goodHash });
  const { token } = await inTransaction(ctx, (tx) => issueToken(tx, id));
  const client = createClient(app, { namespace });
  const call: Account["call"] = (request, more = {}) => client(request, { query: { user_id: id, token }, ...more });
  let secret = "";
  const code = (later = 0) => codeAt(secret, app.clock.now() + later * 30_000);
  const begin: Account["begin"] = async () => {
    const { data, text } = await call<{ secret: string; otpauth_uri: string; qr_svg: string }>(
      "POST /users/me/two-factor/",
      { body: { password: goodPassword } },
    );
    if (data === undefined) throw new Error(`It did not begin: ${text}`);
    secret = data.secret;
    return data;
  };
  return {
    id,
    email,
    token,
    call,
    code,
    begin,
    async wrongCode() {
      const near = await Promise.all([-2, -1, 0, 1, 2].map(code));
      return ["314159", "271828", "141421", "173205", "161803", "577215"].find((one) => !near.includes(one)) as string;
    },
    async enrol() {
      await begin();
      const body = { otp: await code() };
      const { data, text } = await call<{ recovery_codes: string[] }>("POST /users/me/two-factor/confirm/", { body });
      if (data === undefined) throw new Error(`It was not confirmed: ${text}`);
      app.clock.advance(30_000);
      return data.recovery_codes;
    },
  };
}
