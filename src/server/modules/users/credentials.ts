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
const hash = { passwordHash: param("to") };
// A thief who knew the old password may have entered the pending email, so that email is removed.
const changes = { ...hash, passwordChangedAt: param("now"), pendingEmail: null };
const changeHash = statement((q) => q.update(users).set(changes).where(byId(users)));
const isFrom = and(byId(users), eq(passwordHash, param("from")));
const renewHash = statement((q) => q.update(users).set(hash).where(isFrom));
const selectImported = statement(sql`select 1 from ${users} where ${ofStore(users)} and ${imported} limit 1`);

/** Finds the user with an email address, even if the user is disabled. */
export function findSignInUser(db: Executor, tenantId: string, emailKey: string) {
  return get(db, selectByEmail, { tenantId, emailKey });
}

export function findSignInUserById(db: Executor, tenantId: string, id: string) {
  return get(db, selectById, { tenantId, id });
}

/** Returns whether a user of the store has a hash from another system. Its verification takes more or less time. */
export async function hasImportedHashes({ db, tenant }: Ctx): Promise<boolean> {
  return (await get(db, selectImported, { tenantId: tenant.id })) !== undefined;
}

/** Changes a user's password hash and detaches the user's devices. Does not revoke tokens. */
export async function changePasswordHash(tx: Ctx, id: string, to: string): Promise<void> {
  await run(tx.db, changeHash, { tenantId: tx.tenant.id, id, to, now: toTimestamp(tx.now()) });
  await detachDevices(tx, id);
}

/** Replaces the hash `from` by another hash of the same password, unless the password was changed meanwhile. */
export async function renewPasswordHash({ db, tenant }: Ctx, id: string, from: string, to: string): Promise<void> {
  await run(db, renewHash, { tenantId: tenant.id, id, from, to });
}
