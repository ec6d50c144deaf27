import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, resetCodeInvalid } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { clearFailures } from "../passwords/failures.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { countHit, type RateLimit } from "../rate-limits/service.ts";
import { parseLanguage } from "../tenants/language.ts";
import { endTokens } from "../tokens/service.ts";
import { isTwoFactorOn } from "../two-factor/service.ts";
import { changePasswordHash, findSignInUser } from "../users/credentials.ts";
import { users } from "../users/table.ts";
import { checkTry, countWrongTry, issueCode, type ResetTry, spendTry } from "./codes.ts";

/** Mails with a code per tenant and email; further requests send none. */
const resetMails: RateLimit = { name: "reset-mails", most: 3, windowMs: 20 * 60_000 };

const selectUserId = statement<{ id: string }>(sql`
  select id from ${users} where tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`);

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
 * a second factor stays.
 * @throws weakPassword for a weak password, before the code is checked; resetCodeInvalid for a wrong, used or expired
 * code; tooManyAttempts once the tries of the code or the day are used up.
 */
export async function resetPassword(ctx: Ctx, input: { email: string; code: string; password: string }): Promise<void> {
  requireStrongPassword("password", input.password);
  const key = emailKey(input.email);
  if (key === null) throw resetCodeInvalid();
  const resetTry = { emailKey: key, code: input.code.trim() };
  const verdict = await checkTry(ctx, resetTry);
  if (verdict instanceof AppError) throw verdict;
  // Hashed only if the code fits, or guessing would keep every core busy; before the transaction, which must be short.
  const hash = verdict === "fits" ? await hashPassword(input.password) : null;
  const refused = await inTransaction(ctx, (tx) => applyReset(tx, resetTry, hash));
  if (refused) throw refused;
}

/** Verifies again, as things may have changed. A refusal is returned: thrown, it would roll back the count. */
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
  const target = await get(tx.db, selectUserId, { tenantId: tx.tenant.id, emailKey: resetTry.emailKey });
  await recordAudit(tx, { event: "password.reset_failed", subject: target?.id, error: "resetCodeInvalid" });
  return resetCodeInvalid();
}
