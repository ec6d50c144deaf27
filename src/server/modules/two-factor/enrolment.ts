import { and, gt, isNull, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, ofUser, param, params, run, statement } from "../../db/statement.ts";
import { type AppError, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import type { SignInUser } from "../users/credentials.ts";
import { requireSignedIn, requireStoredUser } from "../users/guards.ts";
import { reauthenticate } from "../users/reauthenticate.ts";
import { consumeCode, mailTwoFactorChange, removeTwoFactor, replaceRecoveryCodes } from "./service.ts";
import { twoFactor } from "./table.ts";
import { drawQrCode, loadTotp, makeSecret, matchStep, otpauthUri } from "./totp.ts";

const failed = "two_factor.failed";
const begunMs = 3_600_000;
const { confirmedAt, createdAt } = twoFactor;
const isBegun = and(ofUser(twoFactor), isNull(confirmedAt), gt(createdAt, param("since")));

const begun = params("userId", "tenantId", "secret", "createdAt");
const replace = { target: twoFactor.userId, set: begun, setWhere: isNull(confirmedAt) };
const beginRow = statement((q) => q.insert(twoFactor).values(begun).onConflictDoUpdate(replace));
const selectBegun = statement((q) => q.select({ secret: twoFactor.secret }).from(twoFactor).where(isBegun));
// The time step of the code is stored, so that the same code cannot log in afterwards.
const isSameSecret = sql`${isBegun} and secret = ${param("sealed")}`;
const confirmRow = statement((q) => q.update(twoFactor).set(params("confirmedAt", "lastStep")).where(isSameSecret));

/**
 * Begins an enrolment, which must be confirmed within an hour. Commands at the terminal name the user with `userId`.
 * Without `userId`, the caller enrols.
 * @throws wrongState if two-factor is already enabled, or the email of an account from an open sign-up is unverified;
 * errors of `reauthenticate`.
 */
export async function beginTwoFactor(
  ctx: Ctx,
  { password, userId }: { password: string; userId?: never } | { password?: never; userId: string },
) {
  const user = await requireEnrolling(ctx, userId);
  // Without this check, a person who signed up with another person's email could lock that person out.
  if (user.isUnproven) {
    const remedy = userId
      ? `If it is the user's: bodega user update -n ${ctx.tenant.namespace} ${userId} --email-verified yes`
      : "Enter the mailed code: POST /users/me/email/verify/. Get another code: POST /users/me/email/resend/.";
    throw wrongState("The email must be verified first.", { remedy });
  }
  if (user.hasTwoFactor) throw alreadyOn();
  const secret = await makeSecret();
  const uri = await otpauthUri(secret, ctx.tenant.title, user.email);
  await reauthenticate(ctx, user, { password, failed }, async (tx) => {
    const sealed = tx.vault.seal("two-factor", user.id, secret);
    const values = { userId: user.id, tenantId: tx.tenant.id, secret: sealed, createdAt: toTimestamp(tx.now()) };
    if ((await run(tx.db, beginRow, values)) === 0) throw alreadyOn();
    await recordAudit(tx, { event: "two_factor.begun", subject: user.id });
  });
  return { secret, otpauth_uri: uri, qr_svg: await drawQrCode(uri) };
}

/** Confirms an enrolment. Returns ten recovery codes. Errors: wrongState; errors of `reauthenticate`. */
export async function confirmTwoFactor(ctx: Ctx, { otp, userId }: { otp: string; userId?: string }): Promise<string[]> {
  const user = await requireEnrolling(ctx, userId);
  await loadTotp();
  const spend = async (tx: Ctx) => {
    const key = { tenantId: tx.tenant.id, userId: user.id, since: toTimestamp(tx.now() - begunMs) };
    const begun = await get(tx.db, selectBegun, key);
    if (!begun) throw nothingBegun(userId);
    const secret = tx.vault.open("two-factor", user.id, begun.secret);
    const step = secret === null ? null : await matchStep(secret, otp.replace(/[\s-]/g, ""), tx.now());
    if (step === null) return false;
    const values = { ...key, sealed: begun.secret, lastStep: step, confirmedAt: toTimestamp(tx.now()) };
    return (await run(tx.db, confirmRow, values)) > 0;
  };
  return reauthenticate(ctx, user, { password: undefined, spend, failed }, async (tx) => {
    const codes = await replaceRecoveryCodes(tx, user.id);
    await recordAudit(tx, { event: "two_factor.enabled", subject: user.id });
    await mailTwoFactorChange(tx, user, "enabled");
    return codes;
  });
}

function alreadyOn(): AppError {
  return wrongState("Two-factor authentication is already enabled. Disable it first.");
}

function nothingBegun(userId: string | undefined): AppError {
  const call = userId ? "bodega user two-factor <user>" : "POST /users/me/two-factor/";
  return wrongState(`No two-factor setup is in progress. Begin one: ${call}`);
}

async function requireEnrolling(ctx: Ctx, userId: string | undefined): Promise<SignInUser> {
  if (userId === undefined || ctx.actor.kind !== "terminal") return requireSignedIn(ctx);
  const user = await requireStoredUser(ctx, userId);
  if (user.status !== "active") throw wrongState(`User ${user.email} is disabled.`);
  return user;
}

type BothProofs = Record<"password" | "otp", string>;

export async function disableTwoFactor(ctx: Ctx, given: BothProofs): Promise<void> {
  await verifyBothThenAct(ctx, given, async (tx, user) => {
    await removeTwoFactor(tx, user.id);
    await recordAudit(tx, { event: "two_factor.disabled", subject: user.id });
    await mailTwoFactorChange(tx, user, "disabled");
  });
}

export function renewRecoveryCodes(ctx: Ctx, given: BothProofs): Promise<string[]> {
  return verifyBothThenAct(ctx, given, async (tx, user) => {
    const codes = await replaceRecoveryCodes(tx, user.id);
    await recordAudit(tx, { event: "two_factor.recovery_codes_made", subject: user.id });
    return codes;
  });
}

type Act<T> = (tx: Ctx, user: SignInUser) => Promise<T>;

async function verifyBothThenAct<T>(ctx: Ctx, { password, otp }: BothProofs, act: Act<T>): Promise<T> {
  const user = await requireSignedIn(ctx);
  requireOn(user);
  // The library is loaded before the transaction, so that the transaction does not wait for it.
  await loadTotp();
  const spend = (tx: Ctx, stored: SignInUser) => {
    // Of two concurrent calls, one disables two-factor. The other must not count as a wrong code.
    requireOn(stored);
    return consumeCode(tx, user.id, otp);
  };
  return reauthenticate(ctx, user, { password, spend, failed }, act);
}

function requireOn({ hasTwoFactor }: SignInUser): void {
  if (!hasTwoFactor) throw wrongState("Two-factor authentication is not enabled.");
}
