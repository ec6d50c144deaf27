import type { Ctx } from "../../context.ts";
import { type AppError, invalidLogin } from "../../errors.ts";
import { type AuditEvent, recordAudit } from "../audit/service.ts";
import { limitFailures } from "./failures.ts";
import { verifyPassword } from "./password-hash.ts";

/**
 * Verifies the password of a signed-in user again, then acts. A wrong password counts as a failed login, as does an
 * invalidLogin of the act: otherwise a stolen token would give further guesses. The act must check
 * `requireFailuresLeft` in its transaction.
 * @param by `password`: undefined if the act verifies a code alone; `failed`: recorded in the audit log for a refusal.
 * @throws invalidLogin, tooManyAttempts after too many failures, and errors of the act.
 */
export async function reauthenticate<T>(
  ctx: Ctx,
  user: { id: string; emailKey: string; passwordHash: string | null },
  { password, failed }: { password: string | undefined; failed: AuditEvent },
  act: () => Promise<T>,
): Promise<T> {
  const { id, emailKey, passwordHash } = user;
  const attempt = async () => {
    const isCorrect = password === undefined || (await verifyPassword(password, passwordHash, ctx.tenant.id, id));
    if (!isCorrect) throw invalidLogin();
    return act();
  };
  const record = async (tx: Ctx, refusal: AppError) => {
    await recordAudit(tx, { event: failed, subject: id, error: refusal.kind });
    return refusal;
  };
  return limitFailures(ctx, emailKey, attempt, { record });
}
