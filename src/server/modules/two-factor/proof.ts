import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, forbidden, invalidLogin, tokenExpired } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import { judgeSignIn, requireFailuresLeft } from "../passwords/failures.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { findSignInUserById, type SignInUser } from "../users/credentials.ts";

/** What changing the second factor asks for besides the token: whoever finds a browser open has neither. */
export interface Proof {
  password?: string;
  /** Says whether the code is right, and spends it, in the transaction of the act. */
  spend?: (tx: Ctx, user: SignInUser) => Promise<boolean>;
}

/**
 * The user who calls, as the database knows them now.
 * @throws forbidden for any other caller, tokenExpired for one who has been disabled or deleted meanwhile.
 */
export async function requireSignedIn(ctx: Ctx): Promise<SignInUser> {
  if (ctx.actor.kind !== "user") throw forbidden();
  const user = await findSignInUserById(ctx.db, ctx.tenant.id, ctx.actor.userId);
  if (user?.status !== "active") throw tokenExpired();
  return user;
}

/**
 * Does an act in one transaction once its proof has held. What fails is counted together with failed sign-ins: otherwise
 * a stolen token would be a second place to guess at.
 * @throws invalidLogin, tooManyAttempts when the failures are spent, tokenExpired when the password was changed meanwhile.
 */
export async function proveAnd<T>(ctx: Ctx, user: SignInUser, proof: Proof, act: (tx: Ctx) => Promise<T>): Promise<T> {
  const { password, spend } = proof;
  try {
    return await judgeSignIn(ctx, user.emailKey, async () => {
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

/** A password that was right when it was compared may have been changed since, and the token ended with it. */
async function requireUnchanged(tx: Ctx, known: SignInUser): Promise<void> {
  const user = await findSignInUserById(tx.db, tx.tenant.id, known.id);
  if (user?.status !== "active" || user.passwordHash !== known.passwordHash) throw tokenExpired();
}
