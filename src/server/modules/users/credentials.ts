import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import type { Executor } from "../../db/session.ts";
import { byId, get, ofStore, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { detachDevices } from "../tokens/service.ts";
import { hasTwoFactor } from "../two-factor/table.ts";
import { imported, users } from "./table.ts";

export type SignInUser = NonNullable<Awaited<ReturnType<typeof findSignInUser>>>;

const { emailKey, passwordHash } = users;
const fields = {
  ...pick(users, "id", "email", "emailKey", "pendingEmail", "emailVerified", "name", "lang", "role", "status"),
  ...pick(users, "passwordHash", "version", "passwordChangedAt"),
  isUnproven: sql<number>`is_unproven and not email_verified`,
  hasTwoFactor: sql<number>`${hasTwoFactor}`,
};
const isOfEmail = and(ofStore(users), eq(emailKey, param("emailKey")));
const selectByEmail = statement((q) => q.select(fields).from(users).where(isOfEmail));
const selectById = statement((q) => q.select(fields).from(users).where(byId(users)));
const guard = sql`${byId(users)} and (${param("isGuarded")} = 0 or ${passwordHash} is ${param("from")})`;
// A thief who knew the old password may have entered the pending email, so it is removed.
const changes = { passwordHash: param("to"), passwordChangedAt: param("now"), pendingEmail: null };
const changeHash = statement((q) => q.update(users).set(changes).where(guard));
const renewHash = statement(sql`update ${users} set password_hash = ${param("to")} where ${guard}`);
const selectImported = statement(sql`select 1 from ${users} where ${ofStore(users)} and ${imported} limit 1`);

/** Finds the user of an address in its comparable form, even a disabled one. */
export function findSignInUser(db: Executor, tenantId: string, emailKey: string) {
  return get(db, selectByEmail, { tenantId, emailKey });
}

export function findSignInUserById(db: Executor, tenantId: string, id: string) {
  return get(db, selectById, { tenantId, id });
}

/** Whether a user of the store has a hash from another system, which takes longer or shorter to verify. */
export async function hasImportedHashes({ db, tenant }: Ctx): Promise<boolean> {
  return (await get(db, selectImported, { tenantId: tenant.id })) !== undefined;
}

/**
 * Changes a password hash and detaches the user's devices, but revokes no tokens. Returns false if the user was deleted
 * or another hash is stored.
 * @param change `from`: the hash that must be stored (null: none). `isRenewal`: the same password with another hash, as
 * after the first login of an imported user; devices stay.
 */
export async function changePasswordHash(
  tx: Ctx,
  userId: string,
  change: { to: string; from?: string | null; isRenewal?: boolean },
): Promise<boolean> {
  const { to, from, isRenewal = false } = change;
  const params = { tenantId: tx.tenant.id, id: userId, to, from: from ?? null, isGuarded: from === undefined ? 0 : 1 };
  if (isRenewal) return (await run(tx.db, renewHash, params)) === 1;
  if ((await run(tx.db, changeHash, { ...params, now: toTimestamp(tx.now()) })) === 0) return false;
  await detachDevices(tx, userId);
  return true;
}
