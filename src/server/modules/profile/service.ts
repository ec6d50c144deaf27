import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, isVersion, param } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, preconditionFailed, tokenExpired, wrongState } from "../../errors.ts";
import { parseEmail } from "../../values/email.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { type CodeKey, endCodes, mailCode, redeemCode } from "../mail-codes/service.ts";
import { assignGuestOrders } from "../orders/guests/persons.ts";
import { clearFailures } from "../passwords/failures.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { consumeLimit, type RateLimit } from "../rate-limits/service.ts";
import { issueToken, ownTokenOf, spendToken } from "../tokens/service.ts";
import { changePasswordHash, findSignInUser, findSignInUserById, type SignInUser } from "../users/credentials.ts";
import { requireSignedIn } from "../users/guards.ts";
import { type UserColumns, userColumns } from "../users/input.ts";
import type { ProfilePatch, User } from "../users/model.ts";
import { reauthenticate } from "../users/reauthenticate.ts";
import { writeColumns } from "../users/service.ts";
import { users } from "../users/table.ts";

/** Limits changes of the email, because each change sends a mail to an unverified address. */
const addressChanges: RateLimit = { name: "address-changes", max: 3, windowMs: 86_400_000 };

const ownRow = sql`${byId(users)} and status = 'active' and ${isVersion(users)}`;

/**
 * Changes the calling user's own fields; merges `metadata` (RFC 7396). A new email requires the current password. It is
 * the `pending_email` until the mailed code is entered, and the present email gets a mail, too.
 * @throws preconditionFailed; validationFailed; tooManyRequests after three changes of the email in a day;
 * invalidLogin; tooManyAttempts; tokenExpired if the token has ended meanwhile.
 */
export async function updateOwnProfile(
  ctx: Ctx,
  patch: ProfilePatch & { lang?: string | undefined },
  ifMatch: number | null,
): Promise<User> {
  const { password, ...fields } = patch;
  const columns = userColumns(fields);
  const user = await requireSignedIn(ctx);
  if (columns.email === undefined && password !== undefined) {
    throw invalidField("password", "is accepted only together with email");
  }
  // A form may send the unchanged email, which needs no password.
  if (columns.email === undefined || columns.email === user.email) {
    return inTransaction(ctx, (tx) => writeOwn(tx, user, columns, ifMatch));
  }
  if (password === undefined) throw invalidField("password", "is required to change the email");
  return reauthenticate(ctx, user, { password, failed: "user.email_change_failed" }, async (tx) => {
    await consumeLimit(tx, addressChanges, user.id, "Too many changes of the email.");
    const { email, emailKey, ...others } = columns;
    const isMoved = emailKey !== user.emailKey;
    const written = isMoved ? { ...others, pendingEmail: email ?? null } : columns;
    const changed = await writeOwn(tx, user, written, ifMatch);
    if (isMoved && email !== undefined) {
      const { name, lang } = user;
      await queueMail(tx, { kind: "email_change_requested", to: { email: user.email, name, lang }, values: {} });
      await mailEmailCode(tx, user, email);
    }
    return changed;
  });
}

async function writeOwn(tx: Ctx, user: SignInUser, columns: UserColumns, ifMatch: number | null): Promise<User> {
  const { id } = user;
  const values = { tenantId: tx.tenant.id, id, ifMatch };
  const changed = await writeColumns(tx, user, columns, { condition: ownRow, values });
  if (changed) return changed;
  const now = await findSignInUserById(tx.db, tx.tenant.id, id);
  throw now?.status === "active" ? preconditionFailed() : tokenExpired();
}

// Email and pending email must still be those for which the code was entered.
const waitingRow = sql`${byId(users)} and status = 'active' and email_key = ${param("before")}
  and pending_email is ${param("waiting")}`;

function codeKey(user: SignInUser, emailKey: string): CodeKey {
  return { purpose: "email", subject: `${user.id}:${emailKey}` };
}

/** Mails a code to an email that the user wants to verify. If another user has the email, mails that user instead. */
async function mailEmailCode(tx: Ctx, user: SignInUser, address: string): Promise<void> {
  const { email, emailKey } = parseEmail("email", address);
  const other = await findSignInUser(tx.db, tx.tenant.id, emailKey);
  const isTaken = other !== undefined && other.id !== user.id;
  const { name, lang } = isTaken ? other : user;
  const kind = isTaken ? "account_exists" : "email_code";
  await mailCode(tx, codeKey(user, emailKey), { kind, to: { email, name, lang } });
}

/** Mails a new code for the caller's unverified email. Errors: wrongState if the email is verified; tokenExpired. */
export async function resendEmailCode(ctx: Ctx): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const user = await requireSignedIn(tx);
    if (user.pendingEmail === null && user.emailVerified) throw wrongState("Your email is verified already.");
    await mailEmailCode(tx, user, user.pendingEmail ?? user.email);
  });
}

/**
 * Verifies the caller's pending email or, if there is none, the present email with the mailed code. A pending email
 * replaces the present one, which gets a mail. Errors: resetCodeInvalid, tooManyAttempts, conflict, tokenExpired.
 */
export async function verifyOwnEmail(ctx: Ctx, code: string): Promise<User> {
  const user = await requireSignedIn(ctx);
  const { email, pendingEmail } = user;
  const address = parseEmail("email", pendingEmail ?? email);
  const columns = { ...address, emailVerified: true, pendingEmail: null };
  const values = { tenantId: ctx.tenant.id, id: user.id, before: user.emailKey, waiting: pendingEmail };
  return redeemCode(
    ctx,
    { ...codeKey(user, address.emailKey), code: code.trim() },
    {
      prepare: async () => true,
      async act(tx) {
        const changed = await writeColumns(tx, user, columns, { condition: waitingRow, values });
        if (!changed) throw tokenExpired();
        await assignGuestOrders(tx, { id: user.id, emailKey: address.emailKey });
        return changed;
      },
      refused: (tx) =>
        recordAudit(tx, { event: "user.email_change_failed", subject: user.id, error: "resetCodeInvalid" }),
    },
  );
}

/**
 * Changes the calling user's password, and replaces the token.
 * @throws weakPassword, before the current password is verified; invalidLogin for a wrong current password, counted as
 * a failed login; tooManyAttempts; tokenExpired if the token has ended meanwhile.
 */
export async function changeOwnPassword(ctx: Ctx, input: { current_password: string; password: string }) {
  const own = ownTokenOf(ctx);
  requireStrongPassword("password", input.password);
  const user = await requireSignedIn(ctx);
  const prepare = () => hashPassword(input.password, ctx.tenant.id);
  const proof = { password: input.current_password, prepare, failed: "password.change_failed" } as const;
  return reauthenticate(ctx, user, proof, async (tx, stored, to) => {
    if (!(await spendToken(tx, own, "rotated"))) throw tokenExpired();
    await changePasswordHash(tx, user.id, to);
    // With a second factor, failures stay counted, so that a thief with the password cannot reset the limit.
    if (!stored.hasTwoFactor) await clearFailures(tx, user.emailKey);
    await endCodes(tx, user.emailKey);
    const { token, expiresAt } = await issueToken(tx, user.id);
    await queueMail(tx, { kind: "password_changed", to: { emailKey: user.emailKey }, values: {} });
    await recordAudit(tx, { event: "password.changed", subject: user.id });
    return { user_id: user.id, token, expires_at: expiresAt };
  });
}
