import type { Ctx } from "../../context.ts";
import type { Executor } from "../../db/session.ts";
import { wrongState } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import type { SignInUser } from "../users/credentials.ts";
import { tellOfChange } from "./notice.ts";
import { proveAnd, requireSignedIn } from "./proof.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";
import { isTwoFactorOn, removeTwoFactor, spendCode } from "./service.ts";

/** Password and code, as a client sends them. */
export interface PasswordAndCode {
  password: string;
  /** A one-time code or a recovery code. */
  otp: string;
}

/**
 * Turns the signed-in user's second factor off; secret and recovery codes are forgotten.
 * @throws wrongState when it is not on; invalidLogin, tooManyAttempts, tokenExpired.
 */
export async function disableTwoFactor(ctx: Ctx, given: PasswordAndCode): Promise<void> {
  const user = await requireSignedIn(ctx);
  await proveBoth(ctx, user, given, async (tx) => {
    await removeTwoFactor(tx, user.id);
    await recordAudit(tx, { event: "two_factor.disabled", subject: user.id });
    await tellOfChange(tx, user, "disabled");
  });
}

/**
 * Gives the signed-in user ten new recovery codes and ends the old ones.
 * @throws wrongState when the second factor is not on; invalidLogin, tooManyAttempts, tokenExpired.
 */
export async function renewRecoveryCodes(ctx: Ctx, given: PasswordAndCode): Promise<string[]> {
  const user = await requireSignedIn(ctx);
  return proveBoth(ctx, user, given, async (tx) => {
    const codes = await replaceRecoveryCodes(tx, user.id);
    await recordAudit(tx, { event: "two_factor.recovery_codes_made", subject: user.id });
    return codes;
  });
}

async function proveBoth<T>(
  ctx: Ctx,
  user: SignInUser,
  { password, otp }: PasswordAndCode,
  act: (tx: Ctx) => Promise<T>,
): Promise<T> {
  const requireOn = async (db: Executor) => {
    if (!(await isTwoFactorOn(db, ctx.tenant.id, user.id))) throw wrongState("Two-factor is not on.");
  };
  await requireOn(ctx.db);
  const spend = async (tx: Ctx) => {
    // Of two that race, the second one's code is not wrong: there is nothing left to try it on.
    await requireOn(tx.db);
    return spendCode(tx, user.id, otp);
  };
  return proveAnd(ctx, user, { password, spend }, act);
}
