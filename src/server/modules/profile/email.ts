import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { tokenExpired, wrongState } from "../../errors.ts";
import { parseEmail } from "../../values/email.ts";
import { recordAudit } from "../audit/service.ts";
import { queueMail } from "../mail/outbox.ts";
import { type CodeKey, mailCode, redeemCode } from "../mail-codes/service.ts";
import { requireSignedIn } from "../two-factor/enrolment.ts";
import { endVoidCodes, recordChanges, writeColumns } from "../users/change.ts";
import { findSignInUser, type SignInUser } from "../users/credentials.ts";
import { oneUser } from "../users/guards.ts";
import type { User } from "../users/model.ts";

// The address that was verified must still be the one that waits.
const waitingRow = sql`${oneUser} and status = 'active' and email_key = ${param("before")}
  and pending_email is ${param("waiting")}`;

/** The key of the code that verifies an address of a user, and no other address. */
function codeKey(user: SignInUser, emailKey: string): CodeKey {
  return { purpose: "email", subject: `${user.id}:${emailKey}` };
}

/**
 * Mails a code to an address that a user wants to verify, in a transaction. If it belongs to another user, that user gets
 * a mail about it instead; the caller cannot tell.
 */
export async function mailEmailCode(tx: Ctx, user: SignInUser, address: string): Promise<void> {
  const { email, emailKey } = parseEmail("email", address);
  const other = await findSignInUser(tx.db, tx.tenant.id, emailKey);
  const isTaken = other !== undefined && other.id !== user.id;
  const { name, lang } = isTaken ? other : user;
  await mailCode(tx, codeKey(user, emailKey), {
    kind: isTaken ? "account_exists" : "email_code",
    to: { email, name, lang },
  });
}

/**
 * Mails the calling user another code for the address that is not verified yet: a new one, or else their own.
 * @throws wrongState when there is none, tokenExpired.
 */
export async function resendEmailCode(ctx: Ctx): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const user = await requireSignedIn(tx);
    if (user.pendingEmail === null && user.emailVerified) throw wrongState("Your email is verified already.");
    await mailEmailCode(tx, user, user.pendingEmail ?? user.email);
  });
}

/**
 * Verifies the calling user's new address, or else their own, with the mailed code. A new one replaces the old one, which
 * gets a mail. Errors: resetCodeInvalid, tooManyAttempts; conflict for an address that another user has meanwhile;
 * tokenExpired.
 */
export async function verifyOwnEmail(ctx: Ctx, code: string): Promise<User> {
  const user = await requireSignedIn(ctx);
  const { email, name, lang, pendingEmail } = user;
  const address = parseEmail("email", pendingEmail ?? email);
  const columns = { ...address, emailVerified: 1, pendingEmail: null };
  const values = { tenantId: ctx.tenant.id, id: user.id, before: user.emailKey, waiting: pendingEmail };
  let changed: User | undefined;
  await redeemCode(
    ctx,
    { ...codeKey(user, address.emailKey), code: code.trim() },
    {
      prepare: async () => true,
      async act(tx) {
        changed = await writeColumns(tx, columns, { name: "waiting", condition: waitingRow, values });
        if (!changed) throw tokenExpired();
        if (address.emailKey !== user.emailKey) {
          await queueMail(tx, { kind: "email_changed", to: { email, name, lang }, values: {} });
        }
        await endVoidCodes(tx, user, columns);
        await recordChanges(tx, user, columns, changed);
        return undefined;
      },
      refused: (tx) =>
        recordAudit(tx, { event: "user.email_change_failed", subject: user.id, error: "resetCodeInvalid" }),
    },
  );
  if (!changed) throw tokenExpired();
  return changed;
}
