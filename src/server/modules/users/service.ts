import { type SQL, sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../context.ts";
import { isCheckViolation, isUniqueViolation } from "../../db/db-errors.ts";
import { jsonOf } from "../../db/selection.ts";
import { byId, get, type Params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { conflict, fieldError, forbidden, invalidField, notFound } from "../../errors.ts";
import { mergedMetadataTooLarge } from "../../values/fields.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { recordEvent } from "../events/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { endCodes } from "../mail-codes/service.ts";
import { clearFailures } from "../passwords/failures.ts";
import { hashPassword, parsePasswordHash } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { detachDevices, revokeTokens } from "../tokens/service.ts";
import { twoFactor } from "../two-factor/table.ts";
import { changePasswordHash, findSignInUser, type SignInUser } from "./credentials.ts";
import { explainRefusal, guardedUser, guardValues, isSelf, requireManageable, requireStoredUser } from "./guards.ts";
import { type UserColumns, type UserFields, userColumns } from "./input.ts";
import type { User, UserInput } from "./model.ts";
import { users } from "./table.ts";

const selectUser = statement((q) => q.select({ user: userJson }).from(users).where(byId(users)));
const deleteRow = statement((q) => q.delete(users).where(guardedUser));

export type NewUser = Awaited<ReturnType<typeof prepareUser>>;

export async function createUser(ctx: Ctx, input: UserInput & { lang?: string | undefined }): Promise<User> {
  return addUser(ctx, await prepareUser(ctx, input));
}

/** Validates a new user and hashes the password. Call this before a transaction, which would block other writers. */
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

/** Adds a user. A user without password hash must reset the password before the first login. Errors: conflict. */
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

/** Deletes a user. Errors: notFound; forbidden; preconditionFailed; wrongState for the last active owner. */
export function deleteUser(ctx: Ctx, id: string, ifMatch: number | null): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const stored = await requireStoredUser(tx, id);
    if (isSelf(tx, id)) throw forbidden("You cannot delete yourself.");
    await removeUser(tx, stored, { ifMatch, event: "user.deleted" });
  });
}

/** Deletes a user, even the actor's own account. Errors: preconditionFailed; wrongState for the last active owner. */
export async function removeUser(
  tx: Ctx,
  stored: SignInUser,
  { ifMatch, event }: { ifMatch: number | null; event: "user.deleted" | "user.erased" },
): Promise<void> {
  const { id, emailKey, role } = stored;
  // The rows of revoked tokens stay, so that a request with such a token fails with tokenExpired.
  await revokeTokens(tx, id);
  await endCodes(tx, emailKey);
  const values = { ...guardValues(tx, id, ifMatch, true), roles: JSON.stringify([role]) };
  if ((await run(tx.db, deleteRow, values)) === 0) throw explainRefusal(stored, ifMatch);
  await recordAudit(tx, { event, subject: id, details: { role } });
  await recordUserEvent(tx, "user.deleted", stored);
}

/** Sets a new password and revokes the user's token. Errors: notFound, forbidden, weakPassword, unavailable. */
export async function setPassword(ctx: Ctx, id: string, password: string): Promise<void> {
  const to = await preparePassword(password, ctx.tenant.id);
  await inTransaction(ctx, async (tx) => {
    const { emailKey } = await requireStoredUser(tx, id);
    await changePasswordHash(tx, id, to);
    await revokeTokens(tx, id);
    await endCodes(tx, emailKey);
    await clearFailures(tx, emailKey);
    await recordAudit(tx, { event: "password.changed", subject: id });
  });
}

function preparePassword(password: string, tenantId?: string): Promise<string> {
  requireStrongPassword("password", password);
  return hashPassword(password, tenantId);
}

/**
 * Changes the given fields; merges `metadata` (RFC 7396).
 * @throws notFound; forbidden for a user or role that the actor may not manage, and for the actor's own role or
 * status; preconditionFailed; wrongState for the last active owner; conflict for a taken email; validationFailed.
 */
export function updateUser(ctx: Ctx, id: string, patch: UserFields, ifMatch: number | null): Promise<User> {
  const columns = userColumns(patch);
  return inTransaction(ctx, async (tx) => {
    const before = await requireStoredUser(tx, id);
    if (columns.role !== undefined) requireManageable(tx, columns.role);
    if (isSelf(tx, id) && (columns.role !== undefined || columns.status !== undefined)) {
      throw forbidden("You cannot change your own role or status.");
    }
    const endsOwner = (columns.role !== undefined && columns.role !== "owner") || columns.status === "disabled";
    const values = guardValues(tx, id, ifMatch, endsOwner);
    const user = await writeColumns(tx, before, columns, { condition: guardedUser, values });
    if (!user) throw explainRefusal(before, ifMatch);
    if (before.status === "active" && columns.status === "disabled") {
      await revokeTokens(tx, id);
      await detachDevices(tx, id);
    }
    return user;
  });
}

/**
 * Writes columns and records the change. A new email is unverified, unless `columns` sets `emailVerified`; its old
 * address gets a mail. Returns undefined if the guard refuses. Errors: conflict, validationFailed.
 */
export async function writeColumns(
  tx: Ctx,
  before: SignInUser,
  columns: UserColumns,
  guard: { condition: SQL; values: Params },
) {
  const { emailKey, metadata } = columns;
  const isSame = sql`email_key = ${emailKey}`;
  const changes = {
    ...(emailKey !== undefined && {
      pendingEmail: sql`iif(${isSame}, pending_email, null)`,
      emailVerified: sql`iif(${isSame}, email_verified, 0)`,
    }),
    ...columns,
    ...(metadata !== undefined && { metadata: sql`json_patch(metadata, ${metadata})` }),
    updatedAt: toTimestamp(tx.now()),
    version: sql`version + 1`,
  };
  const update = statement((q) => q.update(users).set(changes).where(guard.condition).returning({ user: userJson }));
  const written = await get(tx.db, update, guard.values).catch(async (error) => {
    throw await explainUserConflict(tx, error, emailKey);
  });
  if (!written) return undefined;
  await recordChanges(tx, before, columns, written.user);
  return written.user;
}

export function recordUserEvent(
  tx: Ctx,
  type: "user.created" | "user.updated" | "user.deleted",
  { id, version, role, status }: Pick<User, "id" | "version" | "role" | "status">,
): Promise<void> {
  return recordEvent(tx, { type, subject: id, data: { version, role, status } });
}

/** Records the change, mails the old address of a changed email, and deletes mailed codes that become invalid. */
async function recordChanges(tx: Ctx, before: SignInUser, columns: UserColumns, after: User): Promise<void> {
  const { id } = after;
  await recordUserEvent(tx, "user.updated", after);
  const { role, status, email, emailKey, nameKey: _nameKey, ...others } = columns;
  const isMoved = emailKey !== undefined && emailKey !== before.emailKey;
  if (isMoved || status === "disabled") await endCodes(tx, before.emailKey);
  if (isMoved) {
    await endCodes(tx, emailKey);
    const { name, lang } = before;
    await queueMail(tx, { kind: "email_changed", to: { email: before.email, name, lang }, values: {} });
    await recordAudit(tx, { event: "user.email_changed", subject: id });
  }
  if (role !== undefined && role !== before.role) {
    await recordAudit(tx, { event: "user.role_changed", subject: id, details: { from: before.role, to: role } });
  }
  if (status !== undefined && status !== before.status) {
    await recordAudit(tx, { event: status === "disabled" ? "user.disabled" : "user.enabled", subject: id });
  }
  const fields = Object.keys(others).map((name) => users[name as keyof UserColumns].name);
  if (!isMoved && email !== undefined && email !== before.email) fields.push("email");
  if (fields.length > 0) await recordAudit(tx, { event: "user.updated", subject: id, details: { fields } });
}

async function explainUserConflict(tx: Ctx, error: unknown, emailKey = ""): Promise<unknown> {
  if (isCheckViolation(error, "users_metadata_size")) return invalidField("metadata", mergedMetadataTooLarge);
  if (!isUniqueViolation(error, "users.email_key")) return error;
  const other = mayRead(tx, "users:read") ? await findSignInUser(tx.db, tx.tenant.id, emailKey) : undefined;
  return fieldError(conflict, "email", "belongs to another user", { id: other?.id, cause: error });
}

/** SQL for a user's JSON, in a statement that gives the table `users` no alias. */
export const userJson = jsonOf<User>(sql`json_object(
  'id', id, 'email', email, 'pending_email', pending_email, 'name', name, 'phone', phone, 'lang', lang, 'role', role, 'status', status,
  'email_verified', json(iif(email_verified, 'true', 'false')), 'addresses', json(addresses),
  'metadata', json(metadata), 'two_factor_enabled', json(iif(exists (
    select 1 from ${twoFactor} f where f.user_id = ${users}.id and f.confirmed_at is not null), 'true', 'false')),
  'last_login_at', last_login_at, 'version', version, 'created_at', created_at, 'updated_at', updated_at)`);
