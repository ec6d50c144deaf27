import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, resetCodeInvalid, tooManyRequests, wrongState } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { endCodes, mailCode, redeemCode } from "../mail-codes/service.ts";
import { assignGuestOrders } from "../orders/guests/persons.ts";
import { clearFailures } from "../passwords/failures.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { parseLanguage } from "../tenants/input.ts";
import { detachDevices, revokeTokens } from "../tokens/service.ts";
import { removeTwoFactor } from "../two-factor/service.ts";
import { changePasswordHash, findSignInUser, type SignInUser } from "../users/credentials.ts";
import type { User, UserInput } from "../users/model.ts";
import { addUser, getUser, prepareUser, recordUserEvent } from "../users/service.ts";
import { users } from "../users/table.ts";

/**
 * Mails a reset code if a user has the email (specification, section 4). The same SQL runs for every email, because the
 * user is looked up when the mail is sent. So the time reveals nothing. Errors: validationFailed for the language.
 */
export async function requestReset(ctx: Ctx, input: { email: string; language?: string | undefined }): Promise<void> {
  const language = input.language === undefined ? undefined : parseLanguage("language", input.language);
  const key = emailKey(input.email);
  // Nobody has an invalid email, so an early reply reveals nothing.
  if (key === null) return;
  await inTransaction(ctx, async (tx) => {
    const mail = { kind: "reset_code", to: { emailKey: key }, language } as const;
    if (!(await mailCode(tx, { purpose: "reset", subject: key }, mail))) return;
    await recordAudit(tx, { event: "password.reset_requested" });
  });
}

/**
 * Sets a new password with a mailed code, and ends every session (specification, section 3). Two-factor stays enabled.
 * Errors: weakPassword, before the code is checked; resetCodeInvalid; tooManyAttempts.
 */
export async function resetPassword(ctx: Ctx, input: { email: string; code: string; password: string }): Promise<void> {
  requireStrongPassword("password", input.password);
  const key = emailKey(input.email);
  if (key === null) throw resetCodeInvalid();
  await redeemCode(
    ctx,
    { purpose: "reset", subject: key, code: input.code.trim() },
    {
      prepare: () => hashPassword(input.password, ctx.tenant.id),
      act: (tx, hash) => applyReset(tx, key, hash),
      refused: (tx) => recordRefusal(tx, key),
    },
  );
}

async function applyReset(tx: Ctx, key: string, passwordHash: string): Promise<AppError | undefined> {
  const user = await findSignInUser(tx.db, tx.tenant.id, key);
  if (user?.status !== "active") {
    await recordRefusal(tx, key);
    return resetCodeInvalid();
  }
  await proveAddress(tx, user);
  await changePasswordHash(tx, user.id, passwordHash);
  // A code of an invitation is still valid, because it is in another slot.
  await endCodes(tx, key);
  const sessionsEnded = await revokeTokens(tx, user.id);
  // With a second factor, failures stay counted. Otherwise a thief of the mailbox could guess codes again and again.
  if (!user.hasTwoFactor) await clearFailures(tx, key);
  const { email, name, lang } = user;
  await queueMail(tx, { kind: "password_changed", to: { email, name, lang }, values: {} });
  await recordAudit(tx, { event: "password.reset", subject: user.id, details: { sessions_ended: sessionsEnded } });
  return undefined;
}

const proveUser = statement(sql`
  update ${users} set is_unproven = 0, email_verified = 1, password_hash = null, password_changed_at = ${param("now")},
    addresses = '[]', phone = null, pending_email = null, version = version + 1, updated_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and id = ${param("id")} and is_unproven`);
const verifyEmail = statement(sql`
  update ${users} set email_verified = 1, version = version + 1, updated_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and id = ${param("id")} and not email_verified`);

/**
 * Records that a user has entered a code that was mailed to the user's email. If a stranger may have created the
 * account, removes the stranger's password, addresses, phone, second factor and devices.
 */
export async function proveAddress(tx: Ctx, user: SignInUser): Promise<void> {
  const { id } = user;
  const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
  const isChanged = await run(tx.db, user.isUnproven ? proveUser : verifyEmail, values);
  if (user.isUnproven) {
    await removeTwoFactor(tx, id);
    await detachDevices(tx, id);
  }
  if (isChanged) await recordUserEvent(tx, "user.updated", await getUser(tx, id));
  await assignGuestOrders(tx, user);
}

async function recordRefusal(tx: Ctx, key: string): Promise<void> {
  const target = await findSignInUser(tx.db, tx.tenant.id, key);
  await recordAudit(tx, { event: "password.reset_failed", subject: target?.id, error: "resetCodeInvalid" });
}

const validMs = 3 * 86_400_000;
/** Invitations have their own slot, so that a reset code, which anyone can request, does not replace an invitation. */
const invitationSlot = 1;

/**
 * Mails a code, valid for three days, with which a user sets a first password. Creates the user if there is none; does
 * not change an existing user.
 * @throws wrongState for a user who has a password or is disabled; tooManyRequests after three mails within 20 minutes,
 * or, after many wrong tries, one mail within an hour; forbidden; validationFailed.
 */
export async function inviteUser(ctx: Ctx, input: UserInput & { lang?: string | undefined }): Promise<User> {
  const prepared = await prepareUser(ctx, input);
  const { emailKey } = prepared;
  return inTransaction(ctx, async (tx) => {
    const stored = await findSignInUser(tx.db, tx.tenant.id, emailKey);
    if (stored && (stored.passwordHash !== null || stored.status !== "active")) {
      throw wrongState(`${stored.email} ${stored.status === "active" ? "has a password already" : "is disabled"}.`);
    }
    const user = stored ? await getUser(tx, stored.id) : await addUser(tx, prepared);
    const key = { purpose: "reset", subject: emailKey, slot: invitationSlot, validMs } as const;
    const isSent = await mailCode(tx, key, { kind: "invitation", to: { emailKey } });
    if (!isSent)
      throw tooManyRequests("This email got too many codes, or too many wrong codes were tried. Try again in an hour.");
    await recordAudit(tx, { event: "user.invited", subject: user.id });
    return user;
  });
}
