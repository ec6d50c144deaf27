import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, forbidden, invalidLogin, tokenExpired } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import { limitFailures, requireFailuresLeft } from "../passwords/failures.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { findSignInUserById, type SignInUser } from "../users/credentials.ts";

/** Credentials beside the token: a person at somebody's open browser has neither of them. */
interface Credentials {
  password?: string;
  /** Verifies and spends a code, in the transaction of the act. */
  spend?: (tx: Ctx, user: SignInUser) => Promise<boolean>;
}

/**
 * The calling user, as stored now.
 * @throws forbidden for any other caller, tokenExpired for one who was disabled or deleted meanwhile.
 */
export async function requireSignedIn(ctx: Ctx): Promise<SignInUser> {
  if (ctx.actor.kind !== "user") throw forbidden();
  const user = await findSignInUserById(ctx.db, ctx.tenant.id, ctx.actor.userId);
  if (user?.status !== "active") throw tokenExpired();
  return user;
}

/**
 * Verifies credentials again, then runs an act in one transaction. Failures count as failed logins: otherwise a stolen
 * token would give further guesses.
 * @throws invalidLogin, tooManyAttempts after too many failures, tokenExpired when the password was changed meanwhile.
 */
export async function reauthenticate<T>(
  ctx: Ctx,
  user: SignInUser,
  credentials: Credentials,
  act: (tx: Ctx) => Promise<T>,
): Promise<T> {
  const { password, spend } = credentials;
  try {
    return await limitFailures(ctx, user.emailKey, async () => {
      if (password !== undefined && !(await verifyPassword(password, user.passwordHash))) throw invalidLogin();
      return inTransaction(ctx, async (tx) => {
        await requireFailuresLeft(tx, user.emailKey);
        await requireUnchanged(tx, user);
        if (spend && !(await spend(tx, user))) throw invalidLogin();
        return act(tx);
      });
    });
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalidLogin") {
      await recordAudit(ctx, { event: "two_factor.failed", subject: user.id, error: "invalidLogin" });
    }
    throw error;
  }
}

/** The password may have been changed since it was verified, and the token revoked with it. */
async function requireUnchanged(tx: Ctx, known: SignInUser): Promise<void> {
  const user = await findSignInUserById(tx.db, tx.tenant.id, known.id);
  if (user?.status !== "active" || user.passwordHash !== known.passwordHash) throw tokenExpired();
}
