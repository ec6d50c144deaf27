import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import type { Executor } from "../../db/session.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { Role, UserStatus } from "./model.ts";
import { users } from "./table.ts";

/** What proving a user needs; stays within the services. */
export interface SignInUser {
  id: string;
  email: string;
  emailKey: string;
  name: string | null;
  lang: string | null;
  role: Role;
  status: UserStatus;
  passwordHash: string | null;
  version: number;
}

const columns = sql`id, email, email_key as emailKey, name, lang, role, status, password_hash as passwordHash, version`;
const selectByEmail = statement<SignInUser>(sql`
  select ${columns} from ${users} where tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`);
const selectById = statement<SignInUser>(sql`
  select ${columns} from ${users} where tenant_id = ${param("tenantId")} and id = ${param("id")}`);
const guard = sql`tenant_id = ${param("tenantId")} and id = ${param("id")}
  and (${param("isGuarded")} = 0 or password_hash is ${param("from")})`;
const changeHash = statement(sql`
  update ${users} set password_hash = ${param("to")}, password_changed_at = ${param("now")} where ${guard}`);
const renewHash = statement(sql`update ${users} set password_hash = ${param("to")} where ${guard}`);

/** The user of an address (in its form for comparison), whatever their status; undefined for an address of nobody. */
export function findSignInUser(db: Executor, tenantId: string, emailKey: string): Promise<SignInUser | undefined> {
  return get(db, selectByEmail, { tenantId, emailKey });
}

/** The same by id. */
export function findSignInUserById(db: Executor, tenantId: string, id: string): Promise<SignInUser | undefined> {
  return get(db, selectById, { tenantId, id });
}

/**
 * Puts another password hash in its place, inside the transaction of the act. Ends no tokens by itself.
 * @param change `from`: only while this is still the hash (null: none yet). `isRenewal`: the same password in another
 * form, as after the sign-in of an imported user, which is no change of password.
 * @returns false when the user is gone or `from` no longer holds.
 */
export async function changePasswordHash(
  tx: Ctx,
  userId: string,
  change: { to: string; from?: string | null; isRenewal?: boolean },
): Promise<boolean> {
  const { to, from, isRenewal = false } = change;
  const params = { tenantId: tx.tenant.id, id: userId, to, from: from ?? null, isGuarded: from === undefined ? 0 : 1 };
  if (isRenewal) return (await run(tx.db, renewHash, params)) === 1;
  return (await run(tx.db, changeHash, { ...params, now: toTimestamp(tx.now()) })) === 1;
}
