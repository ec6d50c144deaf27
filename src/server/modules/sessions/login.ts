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
import { bindToken } from "../tokens/service.ts";
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
/** In a store with imported hashes, a refusal takes this long: longer than verifying the most expensive such hash. */
const refusalMs = 500;

const recordLogin = statement(sql`update ${users} set last_login_at = ${param("at")} where ${byId(users)}`);

/**
 * Logs a user in (specification, section 4). An unknown address, a wrong password and a wrong one-time code get the
 * same reply, in the same time, and each counts as a failure. The likes and bookmarks of `visitor` become the user's;
 * an invalid `visitor` is ignored. A customer can log in with a mailed `code` instead of a password, if the store's
 * `sign_in_by_mail` is on. A used or expired code does not count as a failure.
 * @throws validationFailed for both or neither of `password` and `code`, and for a code if the store mails none;
 * twoFactorRequired, not counted as a failure, if `otp` is required and missing; invalidLogin; tooManyAttempts with
 * `retryAfter` after three failures for the email or 30 calls from the IP address; unavailable.
 */
export async function login(ctx: Ctx, input: LoginInput) {
  // An invalid address gets the same reply as an unknown one.
  const key = emailKey(input.email) ?? input.email.trim().toLowerCase();
  const proof = readProof(ctx, input, key);
  // Independent reads run together, so that they share a round trip to a database server.
  const admit = () =>
    Promise.all([findSignInUser(ctx.db, ctx.tenant.id, key), getStore(ctx), requireCallsLeft(ctx)] as const);
  const attempt = async ([found, store]: Awaited<ReturnType<typeof admit>>) => {
    const until = performance.now() + refusalMs;
    try {
      const user = await verifyProof(ctx, found, proof);
      const { token, expiresAt } = await signIn(ctx, user, input, proof);
      const visitorId = input.visitor === undefined ? null : readVisitor(ctx.vault, ctx.tenant.id, input.visitor);
      if (visitorId !== null) await transferReactions(ctx, visitorId, user.id);
      if ("password" in proof) await renewHash(ctx, user, proof.password);
      return { user_id: user.id, token, expires_at: expiresAt, store };
    } catch (error) {
      const isRefusal = error instanceof AppError && error.kind !== "twoFactorRequired" && "password" in proof;
      // Imported hashes take more or less time to verify than our own. This would reveal that the user exists.
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

// Counts and audits a refused call, but does not store the email, because people type passwords into its field. If a
// limit is reached, returns tooManyAttempts with the longest wait.
async function recordRefusal(tx: Ctx, refusal: AppError, key: string, proof: Proof): Promise<AppError> {
  if ("codeTry" in proof && refusal.kind === "invalidLogin") await countWrongTry(tx, proof.codeTry);
  const callsWaitMs = await countHit(tx, loginCalls, callerSubject(tx));
  const user = await findSignInUser(tx.db, tx.tenant.id, key);
  let answer = refusal;
  if (callsWaitMs > 0 || refusal.kind === "tooManyAttempts") {
    const waits = [callsWaitMs, await failuresWaitMs(tx, key), (refusal.retryAfter ?? 0) * 1000];
    answer = attemptsExhausted(Math.max(...waits));
  }
  const event = answer.kind === "twoFactorRequired" ? "login.code_required" : "login.failed";
  await recordAudit(tx, { event, subject: user?.id, error: answer.kind });
  return answer;
}

/** Creates a session, unless the user was changed after `user` was read. Errors: as `login`. */
async function signIn(ctx: Ctx, user: SignInUser, input: LoginInput, proof: Proof) {
  const otp = input.otp?.trim() ?? "";
  // The library is loaded before the transaction, so that the transaction does not wait for it.
  if (otp !== "") await loadTotp();
  const codeTry = "codeTry" in proof ? proof.codeTry : undefined;
  return inTransaction(ctx, async (tx) => {
    const checking = requireUnchanged(tx, user);
    if (codeTry || user.hasTwoFactor) await requireMore(tx, await checking, codeTry, otp);
    const { issued, statements } = bindLogin(tx, user, codeTry, input.expires_in);
    // The statements share a round trip with the checks. A failed check rolls the statements back.
    await Promise.all([checking, tx.db.batch(statements)]);
    return issued;
  });
}

/** Checks the second factor and the mailed code. A right code proves the account's address. Errors: as `login`. */
async function requireMore(tx: Ctx, user: SignInUser, codeTry: CodeTry | undefined, otp: string): Promise<void> {
  if (codeTry) await requireRightCode(tx, codeTry);
  if (user.hasTwoFactor) {
    if (otp === "") throw twoFactorRequired();
    if (!(await consumeCode(tx, user.id, otp))) throw invalidLogin();
  }
  if (codeTry) await proveAddress(tx, user);
}

function bindLogin(tx: Ctx, { id, emailKey, role }: SignInUser, codeTry: CodeTry | undefined, seconds?: number) {
  const { issued, statements } = bindToken(tx, id, seconds);
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

/** Reads the user again. Errors: invalidLogin if the user was changed, tooManyAttempts, twoFactorRequired. */
async function requireUnchanged(tx: Ctx, user: SignInUser): Promise<SignInUser> {
  const find = findSignInUser(tx.db, tx.tenant.id, user.emailKey);
  const [found] = await Promise.all([find, requireFailuresLeft(tx, user.emailKey), requireCallsLeft(tx)]);
  if (!found || !isUnchanged(found, user)) throw invalidLogin();
  if (found.hasTwoFactor && !user.hasTwoFactor) throw twoFactorRequired();
  return found;
}

/** Compares id, role, status and password. If another login has replaced an imported hash, the user is unchanged. */
function isUnchanged(now: SignInUser, { id, role, passwordHash, passwordChangedAt }: SignInUser): boolean {
  const isReplaced = passwordHash !== null && needsRehash(passwordHash) && now.passwordChangedAt === passwordChangedAt;
  const isSamePassword = now.passwordHash === passwordHash || isReplaced;
  return now.id === id && now.role === role && now.status === "active" && isSamePassword;
}

/** Replaces an imported hash after the login. Before it, the time would reveal that the password was right. */
async function renewHash(ctx: Ctx, { id, passwordHash: from }: SignInUser, password: string): Promise<void> {
  if (from === null || !needsRehash(from)) return;
  try {
    const to = await hashPassword(password, ctx.tenant.id);
    await renewPasswordHash(ctx, id, from, to);
  } catch (error) {
    // The user is logged in anyway. The next login tries again to replace the hash.
    if (!(error instanceof AppError)) throw error;
  }
}

/** Mails a code if a customer has the address. The same SQL runs for every address, so the time reveals nothing. */
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
  if (tenant.signInByMail === "off") throw invalidField("code", "cannot be used, because this store mails no codes");
  return { codeTry: { purpose: "login", subject: key, code: code.trim() } };
}

/** Throws tooManyAttempts if no try is left, or invalidLogin. If no code is valid, this does not count as a failure. */
async function requireRightCode(ctx: Ctx, codeTry: CodeTry): Promise<void> {
  const verdict = await checkTry(ctx, codeTry);
  if (verdict === "wrong") throw invalidLogin();
  if (verdict instanceof AppError) throw verdict.kind === "tooManyAttempts" ? verdict : codeUsedUp();
}
