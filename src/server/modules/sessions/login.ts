import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, type ErrorKind, invalidLogin, twoFactorRequired } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import {
  attemptsExhausted,
  clearFailures,
  failuresWaitMs,
  judgeSignIn,
  requireFailuresLeft,
} from "../passwords/failures.ts";
import { hashPassword, needsRehash, verifyPassword } from "../passwords/password-hash.ts";
import { addressSubject } from "../rate-limits/address-subject.ts";
import { countHit, peekLimit, type RateLimit } from "../rate-limits/service.ts";
import { claimReactions } from "../reactions/service.ts";
import { getTenant } from "../tenants/service.ts";
import { issueToken } from "../tokens/service.ts";
import { isTwoFactorOn, spendCode } from "../two-factor/service.ts";
import { changePasswordHash, findSignInUser, type SignInUser } from "../users/credentials.ts";
import { users } from "../users/table.ts";
import { findVisitor } from "../visitors/actor.ts";
import { levelRefusal } from "./level-refusal.ts";
import type { LoginInput, LoginSession } from "./model.ts";

/** Login calls per address and store (specification, section 8). */
const loginCalls: RateLimit = { name: "login-calls", most: 30, windowMs: 20 * 60_000 };
/** How often a right password is compared again because its hash was changed meanwhile. */
const maxTries = 3;
const auditedKinds: ReadonlySet<ErrorKind> = new Set(["twoFactorRequired", "invalidLogin", "tooManyAttempts"] as const);
/** Also tooManyAttempts, where others have spent the last place meanwhile: a right password must not be the faster one. */
const levelledKinds: ReadonlySet<ErrorKind> = new Set(["invalidLogin", "tooManyAttempts"] as const);

// Guarded by what was verified: a password that has been changed since signs nobody in.
const noteLogin = statement(sql`
  update ${users} set last_login_at = ${param("now")}
  where tenant_id = ${param("tenantId")} and id = ${param("id")} and email_key = ${param("emailKey")}
    and status = 'active' and password_hash = ${param("passwordHash")}`);

/**
 * Signs a user in (specification, section 4). An unknown address, a wrong password and a wrong one-time code are
 * answered alike, count alike, and cost the same hashes. What the visitor who comes along likes and has bookmarked becomes
 * the user's; a `visitor` that is none is not looked at.
 * @throws twoFactorRequired when two-factor is on and `otp` is missing or empty (counts as no failure), invalidLogin, tooManyAttempts with
 * `retryAfter` after three failures for the email or 30 calls from the address, unavailable when too many passwords wait.
 */
export async function login(ctx: Ctx, input: LoginInput): Promise<LoginSession> {
  // What is no address is judged like an address of nobody.
  const key = emailKey(input.email) ?? input.email.trim().toLowerCase();
  let subject: string | undefined;
  let isWrittenDown = false;
  const verified: (string | null)[] = [];
  const prove = async () => {
    for (let tries = 1; ; tries++) {
      const user = await findSignInUser(ctx.db, ctx.tenant.id, key);
      subject = user?.id;
      const hash = user?.status === "active" ? user.passwordHash : null;
      verified.push(hash);
      const isRight = await verifyPassword(input.password, hash);
      if (!user || hash === null || !isRight) throw invalidLogin();
      const session = await signIn(ctx, user, hash, input);
      if (session) {
        if (needsRehash(hash)) await renewHash(ctx, user, hash, input.password);
        return session;
      }
      if (tries === maxTries) throw invalidLogin();
    }
  };
  const attempt = async () => {
    try {
      return await prove();
    } catch (error) {
      if (error instanceof AppError && levelledKinds.has(error.kind)) await levelRefusal(ctx, input.password, verified);
      throw error;
    }
  };
  const note = (tx: Ctx, refusal: AppError) => writeDown(tx, refusal, { key, subject });
  try {
    await requireCallsLeft(ctx);
    return await judgeSignIn(ctx, key, attempt, async (tx, refusal) => {
      isWrittenDown = true;
      return note(tx, refusal);
    });
  } catch (error) {
    if (isWrittenDown || !(error instanceof AppError && auditedKinds.has(error.kind))) throw error;
    throw await inTransaction(ctx, (tx) => note(tx, error));
  }
}

/** Refuses an address whose calls are spent before anything is done for it. Each call is counted with its outcome. */
async function requireCallsLeft(ctx: Ctx): Promise<void> {
  const waitMs = await peekLimit(ctx, loginCalls, callerOf(ctx));
  if (waitMs > 0) throw attemptsExhausted(waitMs);
}

/** Counts a call, in the transaction of its outcome; the tooManyAttempts that this is instead when others took the last places. */
async function countCall(tx: Ctx): Promise<AppError | undefined> {
  const waitMs = await countHit(tx, loginCalls, callerOf(tx));
  return waitMs > 0 ? attemptsExhausted(waitMs) : undefined;
}

/** The tooManyAttempts whose wait outlasts both limits, as they stand with this call. */
async function longestWait(tx: Ctx, key: string, refusal: AppError): Promise<AppError> {
  const waitMs = [await peekLimit(tx, loginCalls, callerOf(tx)), await failuresWaitMs(tx, key)];
  return attemptsExhausted(Math.max(...waitMs, (refusal.retryAfter ?? 0) * 1000));
}

function callerOf({ tenant, clientIp, vault }: Ctx): string {
  return addressSubject(vault, clientIp, tenant.id);
}

/** Counts and audits a refused call, without the email: people type their passwords into its field. */
async function writeDown(
  tx: Ctx,
  refusal: AppError,
  { key, subject }: { key: string; subject: string | undefined },
): Promise<AppError> {
  const isSpent = (await countCall(tx)) !== undefined || refusal.kind === "tooManyAttempts";
  const answer = isSpent ? await longestWait(tx, key, refusal) : refusal;
  await recordAudit(tx, { event: "login.failed", subject, error: answer.kind });
  return answer;
}

/** The session of a user whose password has this hash; undefined when it is no longer theirs. */
async function signIn(ctx: Ctx, user: SignInUser, passwordHash: string, input: LoginInput) {
  const otp = input.otp?.trim() ?? "";
  const visitorId = input.visitor === undefined ? null : findVisitor(ctx, input.visitor);
  // Before the transaction, in which nobody should wait for the library that judges codes.
  await isTwoFactorOn(ctx.db, ctx.tenant.id, user.id);
  return inTransaction(ctx, async (tx): Promise<LoginSession | undefined> => {
    const { tenant } = tx;
    await requireFailuresLeft(tx, user.emailKey);
    const which = { tenantId: tenant.id, id: user.id, emailKey: user.emailKey };
    if ((await run(tx.db, noteLogin, { ...which, passwordHash, now: toTimestamp(tx.now()) })) === 0) return undefined;
    if (await isTwoFactorOn(tx.db, tenant.id, user.id)) {
      if (otp === "") throw twoFactorRequired();
      if (!(await spendCode(tx, user.id, otp))) throw invalidLogin();
    }
    const spent = await countCall(tx);
    if (spent) throw spent;
    await clearFailures(tx, user.emailKey);
    const { token, tokenId, expiresAt } = await issueToken(tx, user.id);
    if (visitorId !== null) await claimReactions(tx, visitorId, user.id);
    const actor = { kind: "user", userId: user.id, role: user.role } as const;
    await recordAudit({ ...tx, actor }, { event: "login.succeeded", subject: user.id, details: { token_id: tokenId } });
    const { namespace, title, domain, url, currency, currency_sign, logo } = await getTenant(tx, tenant.namespace);
    const store = { namespace, title, domain, url, currency, currency_sign, logo };
    return { user_id: user.id, token, expires_at: expiresAt, store };
  });
}

/** Keeps an imported password in our own form from now on. Only after the code: earlier its time would tell of it. */
async function renewHash(ctx: Ctx, user: SignInUser, from: string, password: string): Promise<void> {
  try {
    const to = await hashPassword(password);
    await inTransaction(ctx, (tx) => changePasswordHash(tx, user.id, { from, to, isRenewal: true }));
  } catch (error) {
    // The user is signed in, and the next login tries again.
    if (!(error instanceof AppError)) throw error;
  }
}
