import { verifyPassword } from "../../src/server/modules/passwords/password-hash.ts";
import { findSignInUserById } from "../../src/server/modules/users/credentials.ts";
import { type Account, openAccount, otherPassword } from "./account.ts";
import type { ApiReply } from "./client.ts";
import { type Shop, tenantContext } from "./factories.ts";
import { readResetCode } from "./mail.ts";
import type { Suite } from "./suite.ts";

/** Requests a reset code, from a new address each time. */
export function forgot(shop: Shop, email: string): Promise<ApiReply> {
  return shop.callAnonymously("POST /auth/password/forgot/", { body: { email } });
}

/** Tries a reset code, from a new address each time. */
export function reset(shop: Shop, email: string, code: string, password = otherPassword): Promise<ApiReply> {
  return shop.callAnonymously("POST /auth/password/reset/", { body: { email, code, password } });
}

/** Requests a reset code, and reads it in the mail. */
export async function requestCode(shop: Shop, email: string): Promise<string> {
  await forgot(shop, email);
  return readResetCode(shop.app, shop.namespace);
}

/** Creates a store with a user to whom a code was mailed. */
export async function openAccountWithCode(
  suite: Suite,
): Promise<{ shop: Shop; account: Account; email: string; code: string; wrong: string }> {
  const shop = await suite.shop();
  const account = await openAccount(shop);
  const code = await requestCode(shop, account.email);
  return { shop, account, email: account.email, code, wrong: otherCode(code) };
}

/** Returns another code of six digits. */
export function otherCode(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, "0");
}

/** Whether this is the present password of the user. */
export async function hasPassword(shop: Shop, userId: string, password: string): Promise<boolean> {
  const { db, tenant } = await tenantContext(shop);
  const user = await findSignInUserById(db, tenant.id, userId);
  return verifyPassword(password, user?.passwordHash ?? null);
}
