import { randomInt } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { createPurge } from "../../db/purge.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, resetCodeInvalid } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { attemptsExhausted, clearFailures } from "../passwords/failures.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { addressSubject, countHit, peekLimit, type RateLimit } from "../rate-limits/service.ts";
import { parseLanguage } from "../tenants/input.ts";
import { endTokens } from "../tokens/service.ts";
import { isTwoFactorOn } from "../two-factor/service.ts";
import { changePasswordHash, findSignInUser } from "../users/credentials.ts";
import { passwordResetCodes } from "./table.ts";

/** Mails with a code per tenant and email; further requests send none. */
const resetMails: RateLimit = { name: "reset-mails", most: 3, windowMs: 20 * 60_000 };

/**
 * Sends a reset code to an address, if a user has it (specification, section 4). It runs the same statements for every
 * address, so that its time reveals nothing; the mail queue looks for the user later.
 * @param input `language` of the mail; the user's own without it.
 * @throws validationFailed for an invalid language.
 */
export async function requestReset(ctx: Ctx, input: { email: string; language?: string | undefined }): Promise<void> {
  const language = input.language === undefined ? undefined : parseLanguage("language", input.language);
  const key = emailKey(input.email);
  // An invalid address has no user, so answering at once reveals nothing.
  if (key === null) return;
  await inTransaction(ctx, async (tx) => {
    if ((await countHit(tx, resetMails, `${tx.tenant.id}:${key}`)) > 0) return;
    const { code, expiresAt } = await issueCode(tx, key);
    await queueMail(tx, {
      kind: "reset_code",
      to: { emailKey: key },
      language,
      values: { code },
      usefulUntil: expiresAt,
      replaces: key,
    });
    await recordAudit(tx, { event: "password.reset_requested" });
  });
}

/**
 * Sets a new password, given the code that was sent (specification, section 3). It ends every session and creates none;
 * a second factor stays on. Errors: weakPassword for a weak password, before the code is checked; resetCodeInvalid for
 * a wrong, used or expired code; tooManyAttempts once the tries of the code or the day are used up.
 */
export async function resetPassword(ctx: Ctx, input: { email: string; code: string; password: string }): Promise<void> {
  requireStrongPassword("password", input.password);
  const key = emailKey(input.email);
  if (key === null) throw resetCodeInvalid();
  const resetTry = { emailKey: key, code: input.code.trim() };
  const verdict = await checkTry(ctx, resetTry);
  if (verdict instanceof AppError) throw verdict;
  // Hashed only if the code is right, or guessing would keep every core busy; hashed before the transaction, which must be short.
  const hash = verdict === "fits" ? await hashPassword(input.password, ctx.tenant.id) : null;
  const refused = await inTransaction(ctx, (tx) => applyReset(tx, resetTry, hash));
  if (refused) throw refused;
}

/** Verifies again, because the code may have changed. A refusal is returned: if it were thrown, the count would be rolled back. */
async function applyReset(tx: Ctx, resetTry: ResetTry, passwordHash: string | null): Promise<AppError | undefined> {
  if (passwordHash === null || !(await spendTry(tx, resetTry))) return refuse(tx, resetTry);
  const user = await findSignInUser(tx.db, tx.tenant.id, resetTry.emailKey);
  const isChanged = user?.status === "active" && (await changePasswordHash(tx, user.id, { to: passwordHash }));
  if (!isChanged) {
    await recordAudit(tx, { event: "password.reset_failed", subject: user?.id, error: "resetCodeInvalid" });
    return resetCodeInvalid();
  }
  const sessionsEnded = await endTokens(tx, user.id, "revoked");
  // Access to the mailbox allows a login at once, but no further guesses at a second factor.
  if (!(await isTwoFactorOn(tx.db, tx.tenant.id, user.id))) await clearFailures(tx, resetTry.emailKey);
  const { email, name, lang } = user;
  await queueMail(tx, { kind: "password_changed", to: { email, name, lang }, values: {} });
  await recordAudit(tx, { event: "password.reset", subject: user.id, details: { sessions_ended: sessionsEnded } });
  return undefined;
}

async function refuse(tx: Ctx, resetTry: ResetTry): Promise<AppError> {
  if (!(await countWrongTry(tx, resetTry))) {
    const verdict = await checkTry(tx, resetTry);
    return verdict instanceof AppError ? verdict : resetCodeInvalid();
  }
  const target = await findSignInUser(tx.db, tx.tenant.id, resetTry.emailKey);
  await recordAudit(tx, { event: "password.reset_failed", subject: target?.id, error: "resetCodeInvalid" });
  return resetCodeInvalid();
}

/** How long a code can be used, in milliseconds (specification, section 8). */
const validMs = 15 * 60_000;
/** Wrong tries that lock a code (specification, section 8). */
const maxTries = 5;
/** Wrong tries at all codes of an account in a day; without it, six digits could be guessed over many codes. */
const accountTries: RateLimit = { name: "reset-tries", most: 100, windowMs: 86_400_000 };
/** Those from one address, so that nobody alone can lock an account for the day. */
const addressTries: RateLimit = { name: "reset-tries-address", most: 15, windowMs: 86_400_000 };
const keptMs = 86_400_000;

const ofAddress = sql`tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`;
const isLive = sql`used_at is null and expires_at > ${param("now")} and wrong_tries < ${sql.raw(String(maxTries))}`;

const putCode = statement(sql`
  insert into ${passwordResetCodes} (tenant_id, email_key, hash, created_at, expires_at)
  values (${param("tenantId")}, ${param("emailKey")}, ${param("hash")}, ${param("now")}, ${param("expiresAt")})
  on conflict (tenant_id, email_key) do update set hash = excluded.hash, created_at = excluded.created_at,
    expires_at = excluded.expires_at, wrong_tries = 0, used_at = null`);
const selectCode = statement<{ hash: string; expires_at: string; wrong_tries: number; used_at: string | null }>(sql`
  select hash, expires_at, wrong_tries, used_at from ${passwordResetCodes} where ${ofAddress}`);
// Verified and spent in one statement, so that of concurrent resets with one code only one succeeds.
const useCode = statement(sql`
  update ${passwordResetCodes} set used_at = ${param("now")} where ${ofAddress} and hash = ${param("hash")} and ${isLive}`);
const addWrongTry = statement(sql`
  update ${passwordResetCodes} set wrong_tries = wrong_tries + 1
  where ${ofAddress} and hash <> ${param("hash")} and ${isLive}`);
const removeCode = statement(sql`delete from ${passwordResetCodes} where ${ofAddress}`);

/** A code sent to reset the password of an address, whether or not it has a user. */
export interface ResetTry {
  emailKey: string;
  code: string;
}

/**
 * Replaces an address's code by a new one with its own tries, in the transaction that sends it.
 * @returns the code, and the epoch milliseconds at which it expires.
 */
export async function issueCode(ctx: Ctx, emailKey: string): Promise<{ code: string; expiresAt: number }> {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const expiresAt = ctx.now() + validMs;
  await run(ctx.db, putCode, { ...valuesOf(ctx, { emailKey, code }), expiresAt: toTimestamp(expiresAt) });
  return { code, expiresAt };
}

/**
 * Checks a try without counting it. Returns whether the code fits, or the error that any code gets: tooManyAttempts
 * when the tries of the code or the day are used up, resetCodeInvalid when there is no valid code.
 */
export async function checkTry(ctx: Ctx, resetTry: ResetTry): Promise<"fits" | "wrong" | AppError> {
  const { hash, now, ...address } = valuesOf(ctx, resetTry);
  // Reads the code first: a try that locked it meanwhile is then counted in the day's tries as well.
  const row = await get(ctx.db, selectCode, address);
  const dayMs = await dayWaitMs(ctx, resetTry);
  const isWaiting = row !== undefined && row.used_at === null && row.expires_at > now;
  const isLocked = isWaiting && row.wrong_tries >= maxTries;
  const lockMs = isLocked ? Date.parse(row.expires_at) - ctx.now() : 0;
  if (dayMs > 0 || isLocked) return attemptsExhausted(Math.max(dayMs, lockMs));
  if (!isWaiting) return resetCodeInvalid();
  return row.hash === hash ? "fits" : "wrong";
}

/** Spends a code, in the transaction of the reset; false when it is no longer valid. */
export async function spendTry(tx: Ctx, resetTry: ResetTry): Promise<boolean> {
  if ((await dayWaitMs(tx, resetTry)) > 0) return false;
  return (await run(tx.db, useCode, valuesOf(tx, resetTry))) > 0;
}

/** Counts a wrong try of the code and the day, in one transaction; false when there is no valid code. */
export async function countWrongTry(tx: Ctx, resetTry: ResetTry): Promise<boolean> {
  if ((await dayWaitMs(tx, resetTry)) > 0) return false;
  if ((await run(tx.db, addWrongTry, valuesOf(tx, resetTry))) === 0) return false;
  for (const [limit, subject] of dailyTries(tx, resetTry)) await countHit(tx, limit, subject);
  return true;
}

/** Deletes the reset code of an address, in the transaction of the change that makes it invalid. */
export async function endResetCode(tx: Ctx, emailKey: string): Promise<void> {
  await run(tx.db, removeCode, { tenantId: tx.tenant.id, emailKey });
}

export const purgeResetCodes = createPurge(passwordResetCodes, sql`expires_at <= ${param("before")}`, keptMs);

function valuesOf(ctx: Ctx, { emailKey, code }: ResetTry) {
  const tenantId = ctx.tenant.id;
  const hash = ctx.vault.mac("reset-code", `${tenantId}:${emailKey}:${code}`);
  return { tenantId, emailKey, hash, now: toTimestamp(ctx.now()) };
}

/** Milliseconds for which the day's tries refuse this address, or all; 0 when they do not. */
async function dayWaitMs(ctx: Ctx, resetTry: ResetTry): Promise<number> {
  let waitMs = 0;
  for (const [limit, subject] of dailyTries(ctx, resetTry)) {
    waitMs = Math.max(waitMs, await peekLimit(ctx, limit, subject));
  }
  return waitMs;
}

function dailyTries({ tenant, vault, clientIp }: Ctx, { emailKey }: ResetTry): [RateLimit, subject: string][] {
  const account = `${tenant.id}:${emailKey}`;
  return [
    [accountTries, account],
    [addressTries, addressSubject(vault, clientIp, account)],
  ];
}
