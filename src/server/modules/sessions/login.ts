import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, byId, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, forbidden, invalidField, invalidLogin, twoFactorRequired } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { bindAudit, recordAudit } from "../audit/service.ts";
import { bindUse, type CodeTry, checkTry, countWrongTry, mailCode } from "../mail-codes/service.ts";
import { proveAddress } from "../password-reset/service.ts";
import {
  attemptsExhausted,
  codeUsedUp,
  failureSubject,
  failuresWaitMs,
  limitFailures,
  loginFailures,
  requireFailuresLeft,
} from "../passwords/failures.ts";
import { hashPassword, needsRehash, verifyPassword } from "../passwords/password-hash.ts";
import { bindLimit, callerSubject, checkLimit, countHit, type RateLimit } from "../rate-limits/service.ts";
import { transferReactions } from "../reactions/service.ts";
import { getStore } from "../tenants/service.ts";
import { bindToken, type IssuedToken, withLifetime } from "../tokens/service.ts";
import { consumeCode } from "../two-factor/service.ts";
import { loadTotp } from "../two-factor/totp.ts";
import { findSignInUser, hasImportedHashes, renewPasswordHash, type SignInUser } from "../users/credentials.ts";
import { users } from "../users/table.ts";
import { readVisitor } from "../visitors/actor.ts";

type LoginInput = { email: string; expires_in?: number | undefined } & {
  [Name in "password" | "code" | "otp" | "visitor"]?: string | undefined;
};

/** Login calls per IP address and store (specification, section 8). */
const loginCalls: RateLimit = { name: "login-calls", max: 30, windowMs: 20 * 60_000 };
/** Refusals take this many milliseconds, longer than verifying the most expensive hash that can be imported. */
const refusalMs = 500;

const recordLogin = statement(sql`update ${users} set last_login_at = ${param("at")} where ${byId(users)}`);

/**
 * Logs a user in (specification, section 4). An unknown address, a wrong password and a wrong one-time code get the
 * same reply, count alike, and take the same time. The likes and bookmarks of `visitor` become the user's; an invalid
 * `visitor` is ignored. With a mailed `code` instead of a password, only customers can log in, and only if the store's
 * `sign_in_by_mail` is on; no hash is verified then. A used or expired code does not count as a failure.
 * @throws validationFailed for a code in other stores, and for both or neither; twoFactorRequired if two-factor is on
 * and `otp` is missing or empty (not counted as a failure); invalidLogin; tooManyAttempts with `retryAfter` after three
 * failures for the email or 30 calls from the address; unavailable when too many passwords wait.
 */
export async function login(ctx: Ctx, input: LoginInput) {
  // An invalid address is treated like an unknown one.
  const key = emailKey(input.email) ?? input.email.trim().toLowerCase();
  const proof = readProof(ctx, input, key);
  // Independent reads run together, so that they share a round trip to a database server.
  const admit = () =>
    Promise.all([findSignInUser(ctx.db, ctx.tenant.id, key), getStore(ctx), requireCallsLeft(ctx)] as const);
  const attempt = async ([found, store]: Awaited<ReturnType<typeof admit>>) => {
    const until = performance.now() + refusalMs;
    try {
      const user = await verifyProof(ctx, found, proof);
      const given = { otp: input.otp?.trim() ?? "", proof };
      const { token, expiresAt } = await signIn(withLifetime(ctx, input.expires_in), user, given);
      const visitorId = input.visitor === undefined ? null : readVisitor(ctx.vault, ctx.tenant.id, input.visitor);
      if (visitorId !== null) await transferReactions(ctx, visitorId, user.id);
      if ("password" in proof) await renewHash(ctx, user, proof.password);
      return { user_id: user.id, token, expires_at: expiresAt, store };
    } catch (error) {
      const isRefusal = error instanceof AppError && error.kind !== "twoFactorRequired" && "password" in proof;
      // Verifying an imported hash takes a different time, which would reveal that its user exists.
      if (isRefusal && (await hasImportedHashes(ctx))) await Bun.sleep(Math.max(0, until - performance.now()));
      throw error;
    }
  };
  return limitFailures(ctx, key, attempt, { admit, record: (tx, refusal) => recordRefusal(tx, refusal, key, proof) });
}

async function verifyProof(ctx: Ctx, found: SignInUser | undefined, proof: Proof): Promise<SignInUser> {
  const user = found?.status === "active" ? found : undefined;
  if ("codeTry" in proof) {
    await requireRightCode(ctx, proof.codeTry);
    if (user?.role === "customer") return user;
    throw invalidLogin();
  }
  const isCorrect = await verifyPassword(proof.password, user?.passwordHash ?? null, ctx.tenant.id, user?.id);
  if (user && isCorrect) return user;
  throw invalidLogin();
}

async function requireCallsLeft(ctx: Ctx): Promise<void> {
  const waitMs = await checkLimit(ctx, loginCalls, callerSubject(ctx));
  if (waitMs > 0) throw attemptsExhausted(waitMs);
}

// Counts and audits a refused call, without the email, because people type passwords into that field. At either limit,
// the reply is tooManyAttempts with the longer wait.
async function recordRefusal(tx: Ctx, refusal: AppError, key: string, proof: Proof): Promise<AppError> {
  if ("codeTry" in proof && refusal.kind === "invalidLogin") await countWrongTry(tx, proof.codeTry);
  const isOverLimit = (await countHit(tx, loginCalls, callerSubject(tx))) > 0 || refusal.kind === "tooManyAttempts";
  const user = await findSignInUser(tx.db, tx.tenant.id, key);
  let answer = refusal;
  if (isOverLimit) {
    const waitMs = [await checkLimit(tx, loginCalls, callerSubject(tx)), await failuresWaitMs(tx, key)];
    answer = attemptsExhausted(Math.max(...waitMs, (refusal.retryAfter ?? 0) * 1000));
  }
  const event = answer.kind === "twoFactorRequired" ? "login.code_required" : "login.failed";
  await recordAudit(tx, { event, subject: user?.id, error: answer.kind });
  return answer;
}

/** Creates a session for a user who was read before the password was verified. Errors: as `login`. */
async function signIn(ctx: Ctx, user: SignInUser, { otp, proof }: { otp: string; proof: Proof }): Promise<IssuedToken> {
  // The library is loaded before the transaction, so that the transaction does not wait for it.
  if (otp !== "") await loadTotp();
  const codeTry = "codeTry" in proof ? proof.codeTry : undefined;
  return inTransaction(ctx, async (tx) => {
    const checking = requireUnchanged(tx, user);
    if (codeTry || user.hasTwoFactor) await requireMore(tx, await checking, { codeTry, otp });
    const { issued, statements } = bindLogin(tx, user, codeTry);
    // The statements share a round trip with the checks, which come first. A failed check rolls the statements back.
    await Promise.all([checking, tx.db.batch(statements)]);
    return issued;
  });
}

/** Requires the second factor and the mailed code, which also proves the account's address. Errors: as `login`. */
async function requireMore(
  tx: Ctx,
  user: SignInUser,
  { codeTry, otp }: { codeTry: CodeTry | undefined; otp: string },
): Promise<void> {
  if (codeTry) await requireRightCode(tx, codeTry);
  if (user.hasTwoFactor) {
    if (otp === "") throw twoFactorRequired();
    if (!(await consumeCode(tx, user.id, otp))) throw invalidLogin();
  }
  if (codeTry) await proveAddress(tx, user);
}

function bindLogin(tx: Ctx, { id, emailKey, role }: SignInUser, codeTry: CodeTry | undefined) {
  const { issued, statements } = bindToken(tx, id);
  const details = { token_id: issued.tokenId, ...(codeTry && { by: "mailed code" }) };
  const actor = { kind: "user", userId: id, role } as const;
  const login = [
    ...(codeTry ? [bindUse(tx, codeTry)] : []),
    bind(recordLogin, { tenantId: tx.tenant.id, id, at: toTimestamp(tx.now()) }),
    bindLimit(tx, loginCalls, callerSubject(tx)).hit,
    bindLimit(tx, loginFailures, failureSubject(tx, emailKey)).clear,
    ...statements,
    bindAudit({ ...tx, actor }, { event: "login.succeeded", subject: id, details }),
  ];
  return { issued, statements: login };
}

/** Returns the user as stored now. Errors: invalidLogin for a changed user, tooManyAttempts, twoFactorRequired. */
async function requireUnchanged(tx: Ctx, user: SignInUser): Promise<SignInUser> {
  const find = findSignInUser(tx.db, tx.tenant.id, user.emailKey);
  const [found] = await Promise.all([find, requireFailuresLeft(tx, user.emailKey), requireCallsLeft(tx)]);
  if (!found || !isUnchanged(found, user)) throw invalidLogin();
  if (found.hasTwoFactor && !user.hasTwoFactor) throw twoFactorRequired();
  return found;
}

/** Whether a user is active, with the same id, role and password. Another login may have replaced an imported hash. */
function isUnchanged(now: SignInUser, { id, role, passwordHash, passwordChangedAt }: SignInUser): boolean {
  const isReplaced = passwordHash !== null && needsRehash(passwordHash) && now.passwordChangedAt === passwordChangedAt;
  const isSamePassword = now.passwordHash === passwordHash || isReplaced;
  return now.id === id && now.role === role && now.status === "active" && isSamePassword;
}

/** Replaces an imported hash. Call it after the login, or the time would reveal that the password was right. */
async function renewHash(ctx: Ctx, { id, passwordHash: from }: SignInUser, password: string): Promise<void> {
  if (from === null || !needsRehash(from)) return;
  try {
    const to = await hashPassword(password, ctx.tenant.id);
    await renewPasswordHash(ctx, id, from, to);
  } catch (error) {
    // The user is logged in even if the hash was not replaced; the next login tries again.
    if (!(error instanceof AppError)) throw error;
  }
}

/** Mails a code if a customer has the address. The same SQL runs for all addresses, so the time reveals nothing. */
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

type Proof = { password: string } | { codeTry: CodeTry };

function readProof({ tenant }: Ctx, { password, code }: LoginInput, key: string): Proof {
  if (code === undefined) {
    if (password === undefined) throw invalidField("password", "is required");
    return { password };
  }
  if (password !== undefined) throw invalidField("code", "must not be sent with a password");
  if (tenant.signInByMail === "off") throw invalidField("code", "cannot be used: this store mails no codes to sign in");
  return { codeTry: { purpose: "login", subject: key, code: code.trim() } };
}

/** Throws invalidLogin, counted as a failure only if a code is valid; tooManyAttempts if the code has no tries left. */
async function requireRightCode(ctx: Ctx, codeTry: CodeTry): Promise<void> {
  const verdict = await checkTry(ctx, codeTry);
  if (verdict === "wrong") throw invalidLogin();
  if (verdict instanceof AppError) throw verdict.kind === "tooManyAttempts" ? verdict : codeUsedUp();
}
