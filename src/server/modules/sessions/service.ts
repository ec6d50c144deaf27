import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden, invalidLogin, tokenExpired } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { endCodes } from "../mail-codes/service.ts";
import { clearFailures, reauthenticate, requireFailuresLeft } from "../passwords/failures.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { issueToken, type OwnToken, rotateToken, spendToken } from "../tokens/service.ts";
import { isTwoFactorOn } from "../two-factor/service.ts";
import { changePasswordHash, findSignInUserById } from "../users/credentials.ts";
import type { PasswordChange } from "./model.ts";

export async function refreshSession(ctx: Ctx) {
  const own = ownTokenOf(ctx);
  const { token, expiresAt } = await rotateToken(ctx, own);
  return { user_id: own.userId, token, expires_at: expiresAt };
}

/**
 * Changes the password and replaces the calling user's token.
 * @throws weakPassword, before the current password is verified; invalidLogin for a wrong current one, counted as a
 * failed login; tooManyAttempts after too many of these; tokenExpired if the token has ended meanwhile.
 */
export async function changeOwnPassword(ctx: Ctx, input: PasswordChange) {
  const own = ownTokenOf(ctx);
  requireStrongPassword("password", input.password);
  const user = await findSignInUserById(ctx.db, ctx.tenant.id, own.userId);
  if (!user) throw tokenExpired();
  return reauthenticate(ctx, user, { password: input.current_password, failed: "password.change_failed" }, async () => {
    const to = await hashPassword(input.password, ctx.tenant.id);
    return inTransaction(ctx, async (tx) => {
      await requireFailuresLeft(tx, user.emailKey);
      // Every password change revokes the token, so a live token proves that the verified password is current.
      if (!(await spendToken(tx, own, "rotated"))) throw tokenExpired();
      if (!(await changePasswordHash(tx, user.id, { from: user.passwordHash, to }))) throw invalidLogin();
      // Otherwise a thief with token and password could reset the limit again and again while guessing the second
      // factor.
      if (!(await isTwoFactorOn(tx.db, tx.tenant.id, user.id))) await clearFailures(tx, user.emailKey);
      await endCodes(tx, user.emailKey);
      const { token, expiresAt } = await issueToken(tx, user.id);
      await queueMail(tx, { kind: "password_changed", to: { emailKey: user.emailKey }, values: {} });
      await recordAudit(tx, { event: "password.changed", subject: user.id });
      return { user_id: user.id, token, expires_at: expiresAt };
    });
  });
}

/** The token of the call. The routes admit only users with one. */
export function ownTokenOf({ actor }: Ctx): OwnToken {
  if (actor.kind !== "user" || actor.tokenId === undefined) throw forbidden();
  return { userId: actor.userId, tokenId: actor.tokenId };
}
