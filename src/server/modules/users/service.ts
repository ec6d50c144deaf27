import type { Ctx } from "../../context.ts";
import { byId, get, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden, invalidField, notFound } from "../../errors.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { endCodes } from "../mail-codes/service.ts";
import { clearFailures } from "../passwords/failures.ts";
import { hashPassword, parsePasswordHash } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { revokeTokens } from "../tokens/service.ts";
import { explainUserConflict, recordUserEvent, userJson } from "./change.ts";
import { changePasswordHash, type SignInUser } from "./credentials.ts";
import { explainRefusal, guardedUser, guardValues, isSelf, requireManageable, requireStoredUser } from "./guards.ts";
import { userColumns } from "./input.ts";
import type { User, UserInput } from "./model.ts";
import { users } from "./table.ts";

const selectUser = statement((q) => q.select({ user: userJson }).from(users).where(byId(users)));
const deleteRow = statement((q) => q.delete(users).where(guardedUser));

export type NewUser = Awaited<ReturnType<typeof prepareUser>>;

export async function createUser(ctx: Ctx, input: UserInput & { lang?: string | undefined }): Promise<User> {
  return addUser(ctx, await prepareUser(ctx, input));
}

/** Validates and hashes. Call it before the transaction, because hashing in one would block all writers. */
export async function prepareUser(
  ctx: Pick<Ctx, "actor"> & Partial<Pick<Ctx, "tenant">>,
  input: UserInput & { lang?: string | undefined },
) {
  const { password, password_hash: imported, ...fields } = input;
  const { email, emailKey, ...columns } = userColumns(fields);
  if (email === undefined || emailKey === undefined) throw invalidField("email", "is required");
  const role = columns.role ?? "customer";
  requireManageable(ctx, role);
  if (password !== undefined && imported !== undefined) {
    throw invalidField("password_hash", "cannot be combined with password");
  }
  const own = password === undefined ? null : await preparePassword(password, ctx.tenant?.id);
  const passwordHash = imported === undefined ? own : parsePasswordHash("password_hash", imported);
  return { columns, email, emailKey, role, passwordHash };
}

/** Adds a user. Without a hash, they first reset their password. Errors: conflict, validationFailed. */
export function addUser(ctx: Ctx, { columns, email, emailKey, role, passwordHash }: NewUser): Promise<User> {
  const id = newId("usr");
  const now = toTimestamp(ctx.now());
  return inTransaction(ctx, async (tx) => {
    const credentials = { passwordHash, passwordChangedAt: passwordHash === null ? null : now };
    const common = { id, tenantId: tx.tenant.id, status: "active", createdAt: now, updatedAt: now } as const;
    const row = { ...common, ...columns, email, emailKey, role, ...credentials };
    const insert = statement((q) => q.insert(users).values(row).returning({ user: userJson }));
    const inserted = await get(tx.db, insert).catch(async (error) => {
      throw await explainUserConflict(tx, error, emailKey);
    });
    const { user } = inserted as NonNullable<typeof inserted>;
    await recordAudit(tx, { event: "user.created", subject: id, details: { role } });
    await recordUserEvent(tx, "user.created", user);
    return user;
  });
}

export async function getUser(ctx: Ctx, id: string): Promise<User> {
  const row = isId("usr", id) ? await get(ctx.db, selectUser, { tenantId: ctx.tenant.id, id }) : undefined;
  if (!row) throw notFound("user", id);
  return row.user;
}

/** Deletes a user. Errors: notFound; forbidden, also for the actor; preconditionFailed; wrongState. */
export function deleteUser(ctx: Ctx, id: string, ifMatch: number | null): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const stored = await requireStoredUser(tx, id);
    if (isSelf(tx, id)) throw forbidden("You cannot delete yourself.");
    await removeUser(tx, stored, { ifMatch, event: "user.deleted" });
  });
}

/** Deletes a user whom the actor may manage, or is, in the transaction of the act. Errors: as `deleteUser`. */
export async function removeUser(
  tx: Ctx,
  stored: SignInUser,
  { ifMatch, event }: { ifMatch: number | null; event: "user.deleted" | "user.erased" },
): Promise<void> {
  const { id, emailKey, role } = stored;
  // Tokens first: their rows are kept, so that revoked tokens can be told from unknown ones.
  await revokeTokens(tx, id, "revoked");
  await endCodes(tx, emailKey);
  const values = { ...guardValues(tx, id, ifMatch, true), roles: JSON.stringify([role]) };
  if ((await run(tx.db, deleteRow, values)) === 0) throw explainRefusal(stored, ifMatch);
  await recordAudit(tx, { event, subject: id, details: { role } });
  await recordUserEvent(tx, "user.deleted", stored);
}

/** Sets a password without the old one; revokes the token. Errors: notFound, forbidden, weakPassword, unavailable. */
export async function setPassword(ctx: Ctx, id: string, password: string): Promise<void> {
  const to = await preparePassword(password, ctx.tenant.id);
  await inTransaction(ctx, async (tx) => {
    const { emailKey } = await requireStoredUser(tx, id);
    await changePasswordHash(tx, id, { to });
    await revokeTokens(tx, id, "revoked");
    await endCodes(tx, emailKey);
    await clearFailures(tx, emailKey);
    await recordAudit(tx, { event: "password.changed", subject: id });
  });
}

function preparePassword(password: string, tenantId?: string): Promise<string> {
  requireStrongPassword("password", password);
  return hashPassword(password, tenantId);
}
