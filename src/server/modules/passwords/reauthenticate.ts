import type { Ctx } from "../../context.ts";
import { AppError, invalidLogin } from "../../errors.ts";
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
  try {
    return await limitFailures(ctx, user.emailKey, async () => {
      const { id, passwordHash } = user;
      const isCorrect = password === undefined || (await verifyPassword(password, passwordHash, ctx.tenant.id, id));
      if (!isCorrect) throw invalidLogin();
      return act();
    });
  } catch (error) {
    if (error instanceof AppError && (error.kind === "invalidLogin" || error.kind === "tooManyAttempts")) {
      await recordAudit(ctx, { event: failed, subject: user.id, error: error.kind });
    }
    throw error;
  }
}
