import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, ofStore } from "../../db/conditions.ts";
import type { Executor } from "../../db/session.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { detachDevices } from "../tokens/service.ts";
import { hasTwoFactor } from "../two-factor/table.ts";
import { imported, users } from "./table.ts";

/** The fields that authentication needs; internal to the services. */
export type SignInUser = NonNullable<Awaited<ReturnType<typeof findSignInUser>>>;

const { id, email, emailKey, pendingEmail, emailVerified, name, lang, role, status, passwordHash, version } = users;
const fields = {
  ...{ id, email, emailKey, pendingEmail, emailVerified, name, lang, role, status, passwordHash, version },
  isUnproven: sql<number>`is_unproven and not email_verified`,
  hasTwoFactor: sql<number>`${hasTwoFactor}`,
};
const isOfEmail = and(ofStore(users), eq(emailKey, param("emailKey")));
const selectByEmail = statement((q) => q.select(fields).from(users).where(isOfEmail));
const selectById = statement((q) => q.select(fields).from(users).where(byId(users)));
const guard = sql`${byId(users)} and (${param("isGuarded")} = 0 or ${passwordHash} is ${param("from")})`;
// A thief who knew the old password may have entered a pending email.
const changes = { passwordHash: param("to"), passwordChangedAt: param("now"), pendingEmail: null };
const changeHash = statement((q) => q.update(users).set(changes).where(guard));
const renewHash = statement((q) =>
  q
    .update(users)
    .set({ passwordHash: param("to") })
    .where(guard),
);

const isImported = sql`${ofStore(users)} and ${imported}`;
const kind = sql.raw(`case when found.hash like '$2%' then substr(found.hash, 1, 7)
  else substr(found.hash, 1, instr(found.hash, ',p=') + 4) end`);

/**
 * How imported hashes begin, each kind once: steps through the index `users_imported`, where `…$` sorts before `…%`.
 */
export const selectKinds = statement<{ kind: string }>(sql`
  with recursive found (hash) as (
    select (select password_hash from ${users} where ${isImported} order by password_hash limit 1)
    union all
    select (select password_hash from ${users} where ${isImported}
      and password_hash >= substr(${kind}, 1, length(${kind}) - 1) || char(unicode(substr(${kind}, -1)) + 1)
      order by password_hash limit 1)
    from found where found.hash is not null limit 200)
  select ${kind} as kind from found where found.hash is not null`);

/** The user of an address in its comparable form, also a disabled one. */
export function findSignInUser(db: Executor, tenantId: string, emailKey: string) {
  return get(db, selectByEmail, { tenantId, emailKey });
}

export function findSignInUserById(db: Executor, tenantId: string, id: string) {
  return get(db, selectById, { tenantId, id });
}

export async function findImportedKinds(ctx: Ctx): Promise<string[]> {
  return (await all(ctx.db, selectKinds, { tenantId: ctx.tenant.id })).map(({ kind }) => kind);
}

/**
 * Detaches the user's devices, too, but revokes no tokens. Returns false when the user was deleted or another hash is
 * stored.
 * @param change `from`: the hash that must be stored (null: none). `isRenewal`: the same password with another hash,
 * as after the first login of an imported user; devices stay.
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
