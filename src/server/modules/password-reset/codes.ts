import { randomInt } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import type { Session } from "../../db/session.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { type AppError, resetCodeInvalid, tooManyAttempts } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { countHit, peekLimit, type RateLimit } from "../rate-limits/service.ts";
import { passwordResetCodes } from "./table.ts";

/** How long a code can be used, in milliseconds (specification, section 8). */
const validMs = 15 * 60_000;
/** Wrong tries that lock a code (specification, section 8). */
const maxTries = 5;
/** Wrong tries per tenant and email over all codes; without it, six digits could be guessed over many codes. */
const dailyTries: RateLimit = { name: "reset-tries", most: 15, windowMs: 86_400_000 };
/** How long an expired code is kept. */
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
const removeCode = statement(sql`
  delete from ${passwordResetCodes} where tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`);
const removeOld = statement(sql`
  delete from ${passwordResetCodes} where rowid in (
    select rowid from ${passwordResetCodes} where expires_at <= ${param("before")} limit 1000)`);

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
 * Checks a try without counting it.
 * @returns whether the code fits, or the error that any code gets: tooManyAttempts when the tries of the code or the day
 * are used up, resetCodeInvalid when there is no valid code.
 */
export async function checkTry(ctx: Ctx, resetTry: ResetTry): Promise<"fits" | "wrong" | AppError> {
  const { hash, now, ...address } = valuesOf(ctx, resetTry);
  // Reads the code first: a try that locked it meanwhile is then counted in the day's tries as well.
  const row = await get(ctx.db, selectCode, address);
  const dayMs = await peekLimit(ctx, dailyTries, subjectOf(ctx, resetTry));
  const isWaiting = row !== undefined && row.used_at === null && row.expires_at > now;
  const isLocked = isWaiting && row.wrong_tries >= maxTries;
  const lockMs = isLocked ? Date.parse(row.expires_at) - ctx.now() : 0;
  if (dayMs > 0 || isLocked) return tooManyTries(Math.max(dayMs, lockMs));
  if (!isWaiting) return resetCodeInvalid();
  return row.hash === hash ? "fits" : "wrong";
}

/** Spends a code, in the transaction of the reset; false when it is no longer valid. */
export async function spendTry(tx: Ctx, resetTry: ResetTry): Promise<boolean> {
  if ((await peekLimit(tx, dailyTries, subjectOf(tx, resetTry))) > 0) return false;
  return (await run(tx.db, useCode, valuesOf(tx, resetTry))) > 0;
}

/** Counts a wrong try of the code and the day, in one transaction; false when there is no valid code. */
export async function countWrongTry(tx: Ctx, resetTry: ResetTry): Promise<boolean> {
  if ((await peekLimit(tx, dailyTries, subjectOf(tx, resetTry))) > 0) return false;
  if ((await run(tx.db, addWrongTry, valuesOf(tx, resetTry))) === 0) return false;
  await countHit(tx, dailyTries, subjectOf(tx, resetTry));
  return true;
}

/**
 * Deletes the reset code of an address, in the transaction of the change that makes it void: of the password or the
 * address, or of a user who is disabled or deleted.
 */
export async function endResetCode(tx: Ctx, emailKey: string): Promise<void> {
  await run(tx.db, removeCode, { tenantId: tx.tenant.id, emailKey });
}

/** Deletes codes that expired over a day ago, at most a thousand a call. Returns how many. */
export function purgeResetCodes(ctx: { db: Session; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: toTimestamp(ctx.now() - keptMs) });
}

function valuesOf(ctx: Ctx, { emailKey, code }: ResetTry) {
  const tenantId = ctx.tenant.id;
  const hash = ctx.vault.mac("reset-code", `${tenantId}:${emailKey}:${code}`);
  return { tenantId, emailKey, hash, now: toTimestamp(ctx.now()) };
}

function subjectOf({ tenant }: Ctx, { emailKey }: ResetTry): string {
  return `${tenant.id}:${emailKey}`;
}

function tooManyTries(waitMs: number): AppError {
  return tooManyAttempts(undefined, { retryAfter: Math.ceil(waitMs / 1000) });
}
