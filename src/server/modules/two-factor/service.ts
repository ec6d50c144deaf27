import { randomBytes } from "node:crypto";
import { and, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, ofUser, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { codeUsedUp } from "../passwords/failures.ts";
import { findSignInUserById, type SignInUser } from "../users/credentials.ts";
import { ownIdOf } from "../users/guards.ts";
import { recoveryCodes, twoFactor } from "./table.ts";
import { matchStep } from "./totp.ts";

const isConfirmed = and(ofUser(twoFactor), isNotNull(twoFactor.confirmedAt));
const selectConfirmed = statement((q) => q.select({ secret: twoFactor.secret }).from(twoFactor).where(isConfirmed));
// The time step can only increase, so no code is accepted twice, nor a code older than an accepted one.
const isLater = and(isConfirmed, lt(twoFactor.lastStep, param("lastStep")));
const advanceStep = statement((q) => q.update(twoFactor).set(params("lastStep")).where(isLater));
const isUnused = and(ofUser(recoveryCodes), isNull(recoveryCodes.usedAt));
const codesLeft = sql<number>`(select count(*) from ${recoveryCodes} where ${isUnused})`;
const selectState = statement((q) =>
  q.select({ confirmedAt: twoFactor.confirmedAt, codesLeft }).from(twoFactor).where(ofUser(twoFactor)),
);
const deleteTwoFactor = statement((q) => q.delete(twoFactor).where(ofUser(twoFactor)));

/** Returns the state of the caller's two-factor authentication. Errors: forbidden for callers who are no user. */
export async function getOwnTwoFactor(ctx: Ctx) {
  const row = await get(ctx.db, selectState, { tenantId: ctx.tenant.id, userId: ownIdOf(ctx) });
  const confirmedAt = row?.confirmedAt ?? null;
  return { enabled: confirmedAt !== null, confirmed_at: confirmedAt, recovery_codes_left: row?.codesLeft ?? 0 };
}

/**
 * Verifies a one-time code or a recovery code, each of which is accepted once (RFC 6238, section 5.2). Call this in the
 * transaction of the act that needs the code, so that the code stays valid if the act fails.
 * @returns false if the code is wrong, or if another server key encrypted the secret.
 * @throws invalidLogin, not counted as a failure, if this one-time code or a later one was already used.
 */
export async function consumeCode(ctx: Ctx, userId: string, otp: string): Promise<boolean> {
  const digits = otp.replace(/[\s-]/g, "");
  if (/^\d{6}$/.test(digits)) return spendTimedCode(ctx, userId, digits);
  const code = readRecoveryCode(otp);
  if (code === null) return false;
  const values = { tenantId: ctx.tenant.id, userId, hash: hashOf(ctx, userId, code), usedAt: toTimestamp(ctx.now()) };
  if ((await run(ctx.db, useCode, values)) === 0) return false;
  await recordAudit(ctx, { event: "two_factor.recovery_code_used", subject: userId });
  return true;
}

/** Removes a user's second factor and mails the user. Returns false if there is none, confirmed or not. */
export function resetTwoFactor(ctx: Ctx, userId: string): Promise<boolean> {
  return inTransaction(ctx, async (tx) => {
    const user = await findSignInUserById(tx.db, tx.tenant.id, userId);
    if (!(await removeTwoFactor(tx, userId))) return false;
    await recordAudit(tx, { event: "two_factor.reset", subject: userId });
    if (user?.hasTwoFactor) await mailTwoFactorChange(tx, user, "disabled");
    return true;
  });
}

export async function removeTwoFactor(ctx: Ctx, userId: string): Promise<boolean> {
  const key = { tenantId: ctx.tenant.id, userId };
  await run(ctx.db, deleteCodes, key);
  return (await run(ctx.db, deleteTwoFactor, key)) > 0;
}

async function spendTimedCode(ctx: Ctx, userId: string, digits: string): Promise<boolean> {
  const key = { tenantId: ctx.tenant.id, userId };
  const row = await get(ctx.db, selectConfirmed, key);
  const secret = row ? ctx.vault.open("two-factor", userId, row.secret) : null;
  const step = secret === null ? null : await matchStep(secret, digits, ctx.now());
  if (step === null) return false;
  if ((await run(ctx.db, advanceStep, { ...key, lastStep: step })) === 0) throw codeUsedUp();
  return true;
}

export async function mailTwoFactorChange(ctx: Ctx, user: SignInUser, state: "enabled" | "disabled"): Promise<void> {
  const { email, name, lang } = user;
  await queueMail(ctx, { kind: "two_factor_changed", to: { email, name, lang }, values: { state } });
}

const howMany = 10;
const characters = 10;
// Crockford's base32: 5 bits per character, and no letters that look like digits.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const deleteCodes = statement((q) => q.delete(recoveryCodes).where(ofUser(recoveryCodes)));
const insertCodes = statement(sql`
  insert into ${recoveryCodes} (tenant_id, user_id, hash)
  select ${param("tenantId")}, ${param("userId")}, value from json_each(${param("hashes")})`);
const isUsable = sql`${isUnused} and hash = ${param("hash")} and exists (select 1 from ${twoFactor} where ${isConfirmed})`;
const useCode = statement((q) => q.update(recoveryCodes).set(params("usedAt")).where(isUsable));

/** Replaces a user's recovery codes by ten new ones of 50 random bits, of which only hashes are stored. */
export async function replaceRecoveryCodes(ctx: Ctx, userId: string): Promise<string[]> {
  const makeCode = () => Array.from(randomBytes(characters), (byte) => alphabet[byte & 31]).join("");
  const codes = Array.from({ length: howMany }, makeCode);
  const hashes = JSON.stringify(codes.map((code) => hashOf(ctx, userId, code)));
  const key = { tenantId: ctx.tenant.id, userId };
  await run(ctx.db, deleteCodes, key);
  await run(ctx.db, insertCodes, { ...key, hashes });
  return codes.map((code) => `${code.slice(0, characters / 2)}-${code.slice(characters / 2)}`);
}

function readRecoveryCode(text: string): string | null {
  const code = text.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  return code.length === characters && [...code].every((character) => alphabet.includes(character)) ? code : null;
}

function hashOf(ctx: Ctx, userId: string, code: string): string {
  return ctx.vault.mac("recovery-code", `${userId}:${code}`);
}
