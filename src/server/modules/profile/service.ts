import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import {
  AppError,
  forbidden,
  invalidField,
  invalidLogin,
  preconditionFailed,
  tokenExpired,
  tooManyRequests,
} from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { clearFailures, limitFailures, requireFailuresLeft } from "../passwords/failures.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { countHit, type RateLimit } from "../rate-limits/service.ts";
import { isTwoFactorOn } from "../two-factor/service.ts";
import { findSignInUserById, type SignInUser } from "../users/credentials.ts";
import { oneUser } from "../users/guards.ts";
import { type UserColumns, userColumns } from "../users/input.ts";
import type { ProfilePatch, User } from "../users/model.ts";
import { getUser } from "../users/service.ts";
import { endVoidCodes, recordChanges, writeColumns } from "../users/write-columns.ts";

/** The answer conflict tells that somebody has an address, so nobody may try many. */
export const addressChanges: RateLimit = { name: "address-changes", most: 3, windowMs: 86_400_000 };

// What was true before the transaction must still hold in it.
const ownRow = sql`${oneUser} and status = 'active' and version = coalesce(${param("ifMatch")}, version)
  and (${param("isProved")} = 0 or password_hash is ${param("passwordHash")})`;

/** The user who calls. Errors: notFound when they have just been removed. */
export function getOwnProfile(ctx: Ctx): Promise<User> {
  return getUser(ctx, ownIdOf(ctx));
}

/**
 * Changes what users may say of themselves; `metadata` is merged as RFC 7396 says. Another address needs the current
 * password, is unverified, and the old one is told of it by mail.
 * @param ifMatch the version that must stand; null for any.
 * @throws preconditionFailed; validationFailed; conflict for an address that is taken, tooManyRequests after three other addresses in a day; invalidLogin for a
 * wrong password, counted with failed logins; tooManyAttempts when these are spent; tokenExpired when the token has ended meanwhile.
 */
export async function updateOwnProfile(
  ctx: Ctx,
  patch: ProfilePatch & { lang?: string | undefined },
  ifMatch: number | null,
): Promise<User> {
  const { password, ...fields } = patch;
  const columns = userColumns(fields);
  const user = await findSignInUserById(ctx.db, ctx.tenant.id, ownIdOf(ctx));
  if (!user) throw tokenExpired();
  if (columns.email === undefined) {
    if (password !== undefined) throw invalidField("password", "is asked for only beside another email");
    return inTransaction(ctx, (tx) => writeOwn(tx, user, columns, ifMatch, false));
  }
  // A form that sends every field back as it was changes no address.
  if (columns.email === user.email) return inTransaction(ctx, (tx) => writeOwn(tx, user, columns, ifMatch, false));
  if (password === undefined) throw invalidField("password", "is required for another email");
  return changeAddress(ctx, user, { columns, password, ifMatch });
}

async function changeAddress(
  ctx: Ctx,
  user: SignInUser,
  { columns, password, ifMatch }: { columns: UserColumns; password: string; ifMatch: number | null },
): Promise<User> {
  try {
    return await limitFailures(ctx, user.emailKey, async () => {
      if (!(await verifyPassword(password, user.passwordHash))) throw invalidLogin();
      const waitMs = await countHit(ctx, addressChanges, user.id);
      if (waitMs > 0) throw tooManyRequests(undefined, { retryAfter: Math.ceil(waitMs / 1000) });
      return inTransaction(ctx, async (tx) => {
        await requireFailuresLeft(tx, user.emailKey);
        const changed = await writeOwn(tx, user, columns, ifMatch, true);
        // Otherwise whoever has token and password would gain tries at the second factor with each change.
        if (!(await isTwoFactorOn(tx.db, tx.tenant.id, user.id))) await clearFailures(tx, user.emailKey);
        if (columns.emailKey !== user.emailKey) {
          const { email, name, lang } = user;
          await queueMail(tx, { kind: "email_changed", to: { email, name, lang }, values: {} });
        }
        return changed;
      });
    });
  } catch (error) {
    if (error instanceof AppError && (error.kind === "invalidLogin" || error.kind === "tooManyAttempts")) {
      await recordAudit(ctx, { event: "user.email_change_failed", subject: user.id, error: error.kind });
    }
    throw error;
  }
}

/** `isProved`: the password was checked, and must still be this one. */
async function writeOwn(
  tx: Ctx,
  user: SignInUser,
  columns: UserColumns,
  ifMatch: number | null,
  isProved: boolean,
): Promise<User> {
  const { id, passwordHash } = user;
  const values = { tenantId: tx.tenant.id, id, ifMatch, isProved: isProved ? 1 : 0, passwordHash };
  const changed = await writeColumns(tx, columns, { name: "own", condition: ownRow, values });
  if (changed) {
    await endVoidCodes(tx, user, columns);
    await recordChanges(tx, user, columns, changed);
    return changed;
  }
  const now = await findSignInUserById(tx.db, tx.tenant.id, id);
  if (now?.status !== "active") throw tokenExpired();
  throw ifMatch !== null && ifMatch !== now.version ? preconditionFailed() : invalidLogin();
}

/** Whom this call is about; routes that come here admit signed-in users only. */
function ownIdOf({ actor }: Ctx): string {
  if (actor.kind !== "user") throw forbidden();
  return actor.userId;
}
