import type { Ctx } from "../../context.ts";
import type { Executor } from "../../db/session.ts";
import { wrongState } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import type { SignInUser } from "../users/credentials.ts";
import { reauthenticate, requireSignedIn } from "./reauthenticate.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";
import { isTwoFactorOn, mailTwoFactorChange, removeTwoFactor, spendCode } from "./service.ts";

/** Password and code, as a client sends them. */
export interface PasswordAndCode {
  password: string;
  /** A one-time code or a recovery code. */
  otp: string;
}

/**
 * Disables the calling user's second factor and deletes its secret and recovery codes.
 * @throws wrongState when it is not enabled; invalidLogin, tooManyAttempts, tokenExpired.
 */
export async function disableTwoFactor(ctx: Ctx, given: PasswordAndCode): Promise<void> {
  const user = await requireSignedIn(ctx);
  await reauthenticateWithBoth(ctx, user, given, async (tx) => {
    await removeTwoFactor(tx, user.id);
    await recordAudit(tx, { event: "two_factor.disabled", subject: user.id });
    await mailTwoFactorChange(tx, user, "disabled");
  });
}

/**
 * Replaces the calling user's recovery codes with ten new ones.
 * @throws wrongState when the second factor is not enabled; invalidLogin, tooManyAttempts, tokenExpired.
 */
export async function renewRecoveryCodes(ctx: Ctx, given: PasswordAndCode): Promise<string[]> {
  const user = await requireSignedIn(ctx);
  return reauthenticateWithBoth(ctx, user, given, async (tx) => {
    const codes = await replaceRecoveryCodes(tx, user.id);
    await recordAudit(tx, { event: "two_factor.recovery_codes_made", subject: user.id });
    return codes;
  });
}

async function reauthenticateWithBoth<T>(
  ctx: Ctx,
  user: SignInUser,
  { password, otp }: PasswordAndCode,
  act: (tx: Ctx) => Promise<T>,
): Promise<T> {
  const requireOn = async (db: Executor) => {
    if (!(await isTwoFactorOn(db, ctx.tenant.id, user.id)))
      throw wrongState("Two-factor authentication is not enabled.");
  };
  await requireOn(ctx.db);
  const spend = async (tx: Ctx) => {
    // When two calls race, the second one's code is not wrong: the second factor is disabled already.
    await requireOn(tx.db);
    return spendCode(tx, user.id, otp);
  };
  return reauthenticate(ctx, user, { password, spend }, act);
}
