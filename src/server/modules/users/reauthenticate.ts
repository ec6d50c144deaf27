import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, invalidLogin, tokenExpired } from "../../errors.ts";
import { type AuditEvent, recordAudit } from "../audit/service.ts";
import { limitFailures, requireFailuresLeft } from "../passwords/failures.ts";
import { verifyPassword } from "../passwords/password-hash.ts";
import { findSignInUserById, type SignInUser } from "./credentials.ts";

/**
 * Verifies password and code of a signed-in user again, and runs `act`. A wrong password or code counts as a failed
 * login, so that a stolen token allows no further guesses.
 * @param proof `password`: undefined if only a code is verified. `prepare`: slow work, such as hashing, before the
 * transaction. `spend`: verifies the code in the transaction of `act`. `failed`: the audit event for a refusal.
 * @throws invalidLogin; tooManyAttempts after three failures; tokenExpired if the user was disabled or the password
 * changed meanwhile; errors of `act`.
 */
export function reauthenticate<T, P = void>(
  ctx: Ctx,
  user: SignInUser,
  proof: {
    password: string | undefined;
    prepare?: () => Promise<P>;
    spend?: (tx: Ctx, stored: SignInUser) => Promise<boolean>;
    failed: AuditEvent;
  },
  act: (tx: Ctx, stored: SignInUser, prepared: P) => Promise<T>,
): Promise<T> {
  const { password, prepare = async () => undefined as P, spend, failed } = proof;
  const { id, emailKey, passwordHash } = user;
  const attempt = async () => {
    const isCorrect = password === undefined || (await verifyPassword(password, passwordHash, ctx.tenant.id, id));
    if (!isCorrect) throw invalidLogin();
    const prepared = await prepare();
    return inTransaction(ctx, async (tx) => {
      await requireFailuresLeft(tx, emailKey);
      // A change of the password also revokes the caller's token.
      const stored = await findSignInUserById(tx.db, tx.tenant.id, id);
      if (stored?.status !== "active" || stored.passwordHash !== passwordHash) throw tokenExpired();
      if (spend && !(await spend(tx, stored))) throw invalidLogin();
      return act(tx, stored, prepared);
    });
  };
  const record = async (tx: Ctx, refusal: AppError) => {
    await recordAudit(tx, { event: failed, subject: id, error: refusal.kind });
    return refusal;
  };
  return limitFailures(ctx, emailKey, attempt, { record });
}
