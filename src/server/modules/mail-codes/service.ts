import { randomInt } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, createPurge, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, resetCodeInvalid } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { MailKind } from "../mail/kinds.ts";
import { type MailContents, queueMail } from "../mail/outbox.ts";
import { attemptsExhausted } from "../passwords/failures.ts";
import { addressSubject, checkLimit, countHit, type RateLimit } from "../rate-limits/service.ts";
import { mailCodes } from "./table.ts";

export interface CodeKey {
  purpose: "reset" | "login" | "sign_up" | "email";
  subject: string;
}
/** A new code, which replaces the code in its slot. Default: slot 0, valid for 15 minutes. */
type NewCode = CodeKey & { slot?: number; validMs?: number };
export type CodeTry = CodeKey & { code: string };
export type CodeMail = Pick<MailContents, "to" | "language"> & { kind: MailKind };

/** How long a code can be used, in milliseconds (specification, section 8). */
const validMs = 15 * 60_000;
const maxTries = 5;
const keptMs = 86_400_000;

const mailsOf = (purpose: string): RateLimit => ({ name: `${purpose}-mails`, max: 3, windowMs: 20 * 60_000 });
const dayMs = 86_400_000;
// Limits wrong tries of a subject's codes in a day. After `few` wrong tries, the IP addresses that made them get one
// code an hour for the subject. After `many`, this applies to all IP addresses.
const wrongTries = (purpose: string, max: number): RateLimit => ({ name: `${purpose}-tries`, max, windowMs: dayMs });
const tries = { few: 15, many: 60 };
const triesFrom = (purpose: string): RateLimit => ({ name: `${purpose}-tries-address`, max: 1, windowMs: dayMs });
const slowCodes = (purpose: string): RateLimit => ({ name: `${purpose}-codes`, max: 1, windowMs: 3_600_000 });

const ofSubject = sql`tenant_id = ${param("tenantId")} and purpose = ${param("purpose")} and subject = ${param("subject")}`;
const isWaiting = sql`used_at is null and expires_at > ${param("now")}`;
const isLive = sql`${isWaiting} and wrong_tries < ${sql.raw(String(maxTries))}`;

const putCode = statement(sql`
  insert into ${mailCodes} (tenant_id, purpose, subject, slot, hash, created_at, expires_at)
  values (${param("tenantId")}, ${param("purpose")}, ${param("subject")}, ${param("slot")}, ${param("hash")},
    ${param("now")}, ${param("expiresAt")})
  on conflict (tenant_id, purpose, subject, slot) do update set hash = excluded.hash, created_at = excluded.created_at,
    expires_at = excluded.expires_at, wrong_tries = 0, used_at = null`);
// Selects the valid code that the caller entered. For a wrong code, selects the valid one with the fewest wrong tries.
const selectCode = statement<{ hash: string; expires_at: string; wrong_tries: number }>(sql`
  select hash, expires_at, wrong_tries from ${mailCodes} where ${ofSubject} and ${isWaiting}
  order by hash = ${param("hash")} desc, wrong_tries limit 1`);
// One statement verifies the code and marks it as used, so that only one of several concurrent calls succeeds.
const useCode = statement(sql`
  update ${mailCodes} set used_at = ${param("now")} where ${ofSubject} and hash = ${param("hash")} and ${isLive}`);
const addWrongTry = statement(sql`
  update ${mailCodes} set wrong_tries = wrong_tries + 1
  where ${ofSubject} and hash <> ${param("hash")} and ${isLive}`);
const removeCodes = statement(sql`
  delete from ${mailCodes}
  where tenant_id = ${param("tenantId")} and purpose in ('reset', 'login') and subject = ${param("emailKey")}`);

/**
 * Queues a mail with a new code, which replaces the previous code in its slot. Sends at most three codes in 20 minutes;
 * after many wrong tries, one in an hour. If no code is sent, earlier codes stay valid. The same statements run for
 * every subject, so the time does not reveal whether an account exists.
 * @returns whether the code is sent.
 */
export async function mailCode(tx: Ctx, key: NewCode, mail: CodeMail): Promise<boolean> {
  const subject = `${tx.tenant.id}:${key.subject}`;
  if ((await isSlowed(tx, key)) && (await countHit(tx, slowCodes(key.purpose), subject)) > 0) return false;
  if ((await countHit(tx, mailsOf(key.purpose), subject)) > 0) return false;
  const { code, expiresAt } = await issueCode(tx, key);
  const replaces = `${key.subject}:${key.slot ?? 0}`;
  await queueMail(tx, { ...mail, values: { code }, usefulUntil: expiresAt, replaces });
  return true;
}

/** Stores a new code, which replaces the code in its slot. Returns the code, and its expiry in epoch milliseconds. */
export async function issueCode(ctx: Ctx, key: NewCode): Promise<{ code: string; expiresAt: number }> {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const expiresAt = ctx.now() + (key.validMs ?? validMs);
  const values = { ...valuesOf(ctx, { ...key, code }), slot: key.slot ?? 0, expiresAt: toTimestamp(expiresAt) };
  await run(ctx.db, putCode, values);
  return { code, expiresAt };
}

/**
 * Verifies a code, marks it as used, and runs `act`. The code is checked before `prepare`, so that guessing causes no
 * expensive work, and again in the transaction of `act`.
 * @param use `prepare` does slow work, such as hashing. If it returns null, the code counts as wrong. `act` runs in the
 * transaction; an error that it returns is thrown after the COMMIT. `refused` records a counted wrong try.
 * @throws resetCodeInvalid for a wrong, used or expired code; tooManyAttempts if the code has no tries left.
 */
export async function redeemCode<P, T>(
  ctx: Ctx,
  codeTry: CodeTry,
  use: {
    prepare: () => Promise<P | null>;
    act: (tx: Ctx, prepared: P) => Promise<AppError | T>;
    refused: (tx: Ctx) => Promise<void>;
  },
): Promise<T> {
  const verdict = await checkTry(ctx, codeTry);
  if (verdict instanceof AppError) throw verdict;
  const prepared = verdict === "wrong" ? null : await use.prepare();
  // The transaction returns the refusal, because throwing it there would roll the count back.
  const result = await inTransaction(ctx, async (tx) => {
    if (prepared !== null && (await run(tx.db, useCode, valuesOf(tx, codeTry))) > 0) return use.act(tx, prepared);
    const counted = verdict !== "wrong" && prepared === null ? { ...codeTry, code: "" } : codeTry;
    if (await countWrongTry(tx, counted)) {
      await use.refused(tx);
      return resetCodeInvalid();
    }
    const now = await checkTry(tx, codeTry);
    return now instanceof AppError ? now : resetCodeInvalid();
  });
  if (result instanceof AppError) throw result;
  return result;
}

/** Checks a code, but counts no try. Returns resetCodeInvalid if no code is valid, tooManyAttempts after five tries. */
export async function checkTry(ctx: Ctx, codeTry: CodeTry): Promise<"right" | "wrong" | AppError> {
  const values = valuesOf(ctx, codeTry);
  const row = await get(ctx.db, selectCode, values);
  if (!row) return resetCodeInvalid();
  if (row.wrong_tries >= maxTries) return attemptsExhausted(Date.parse(row.expires_at) - ctx.now());
  return row.hash === values.hash ? "right" : "wrong";
}

/** Counts a wrong try for the subject's codes and for the limits of the day. Returns false if no code is valid. */
export async function countWrongTry(tx: Ctx, codeTry: CodeTry): Promise<boolean> {
  if ((await run(tx.db, addWrongTry, valuesOf(tx, codeTry))) === 0) return false;
  const { account, address } = subjectsOf(tx, codeTry);
  await countHit(tx, wrongTries(codeTry.purpose, tries.many), account);
  await countHit(tx, triesFrom(codeTry.purpose), address);
  return true;
}

/** Returns whether the caller gets only one code an hour for a subject. A sent code stays valid meanwhile. */
async function isSlowed(ctx: Ctx, key: CodeKey): Promise<boolean> {
  const { account, address } = subjectsOf(ctx, key);
  const few = await checkLimit(ctx, wrongTries(key.purpose, tries.few), account);
  const many = await checkLimit(ctx, wrongTries(key.purpose, tries.many), account);
  return many > 0 || (few > 0 && (await checkLimit(ctx, triesFrom(key.purpose), address)) > 0);
}

export function bindUse(tx: Ctx, codeTry: CodeTry) {
  return bind(useCode, valuesOf(tx, codeTry));
}

/** Deletes the codes with which the user of an email could reset the password or log in. */
export async function endCodes(tx: Ctx, emailKey: string): Promise<void> {
  await run(tx.db, removeCodes, { tenantId: tx.tenant.id, emailKey });
}

export const purgeMailCodes = createPurge(mailCodes, sql`expires_at <= ${param("before")}`, keptMs);

function valuesOf(ctx: Ctx, { purpose, subject, code }: CodeTry) {
  const tenantId = ctx.tenant.id;
  const hash = ctx.vault.mac("mail-code", `${tenantId}:${purpose}:${subject}:${code}`);
  return { tenantId, purpose, subject, hash, now: toTimestamp(ctx.now()) };
}

function subjectsOf({ tenant, vault, client }: Ctx, { subject }: CodeKey): { account: string; address: string } {
  const account = `${tenant.id}:${subject}`;
  return { account, address: addressSubject(vault, client?.ip, account) };
}
