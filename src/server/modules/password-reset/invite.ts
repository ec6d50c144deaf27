import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { tooManyRequests, wrongState } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import { mailCode } from "../mail-codes/service.ts";
import { findSignInUser } from "../users/credentials.ts";
import type { User, UserInput } from "../users/model.ts";
import { addUser, getUser, prepareUser } from "../users/service.ts";

const validMs = 3 * 86_400_000;

/**
 * Mails a person a reset code, valid for three days, with which they set their first password. Creates the user unless
 * they exist, whose fields then stay. Errors: wrongState for a user with a password or who is disabled; tooManyRequests
 * after three mails within 20 minutes; forbidden, validationFailed.
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
    const key = { purpose: "reset", subject: emailKey, validMs } as const;
    const isSent = await mailCode(tx, key, { kind: "invitation", to: { emailKey } });
    if (!isSent) throw tooManyRequests("Too many mails to this address. Try again in 20 minutes.");
    await recordAudit(tx, { event: "user.invited", subject: user.id });
    return user;
  });
}
