import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, forbidden, invalidField, invalidLogin } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { recordAudit } from "../audit/service.ts";
import { type CodeTry, checkTry, mailCode } from "../mail-codes/service.ts";
import { codeUsedUp } from "../passwords/failures.ts";
import type { LoginInput } from "./model.ts";

/** Mails nothing unless a customer has the address, with the same statements for every address. Errors: forbidden. */
export async function mailLoginCode(ctx: Ctx, input: { email: string; lang: string | undefined }): Promise<void> {
  if (ctx.tenant.signInByMail === "off") throw forbidden("Customers cannot sign in by mail in this store.");
  const key = emailKey(input.email);
  if (key === null) return;
  await inTransaction(ctx, async (tx) => {
    const to = { emailKey: key, role: "customer" } as const;
    const mail = { kind: "login_code", to, language: input.lang } as const;
    if (!(await mailCode(tx, { purpose: "login", subject: key }, mail))) return;
    await recordAudit(tx, { event: "login.mail_code_requested" });
  });
}

export type Proof = { password: string } | { codeTry: CodeTry };

/** Returns the password, or the try of a mailed code. Errors: validationFailed. */
export function readProof({ tenant }: Ctx, { password, code }: LoginInput, key: string): Proof {
  if (code === undefined) {
    if (password === undefined) throw invalidField("password", "is required");
    return { password };
  }
  if (password !== undefined) throw invalidField("code", "must not be sent with a password");
  if (tenant.signInByMail === "off") throw invalidField("code", "cannot be used: this store mails no codes to sign in");
  return { codeTry: { purpose: "login", subject: key, code: code.trim() } };
}

/** Errors: invalidLogin, not counted as a failure unless a code waits; tooManyAttempts once its tries are used up. */
export async function requireRightCode(ctx: Ctx, codeTry: CodeTry): Promise<void> {
  const verdict = await checkTry(ctx, codeTry);
  if (verdict === "wrong") throw invalidLogin();
  if (verdict instanceof AppError) throw verdict.kind === "tooManyAttempts" ? verdict : codeUsedUp();
}
