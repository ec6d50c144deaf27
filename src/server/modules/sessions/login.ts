import type { Ctx } from "../../context.ts";
import { byId } from "../../db/conditions.ts";
import { bind, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, type ErrorKind, invalidLogin, twoFactorRequired } from "../../errors.ts";
import { emailKey } from "../../values/email.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { bindAudit, recordAudit } from "../audit/service.ts";
import { bindUse, type CodeTry, countWrongTry } from "../mail-codes/service.ts";
import { claimAccount } from "../password-reset/service.ts";
import {
  attemptsExhausted,
  failureSubject,
  failuresWaitMs,
  limitFailures,
  loginFailures,
  requireFailuresLeft,
} from "../passwords/failures.ts";
import { hashesToVerify, hashPassword, needsRehash, verifyPassword } from "../passwords/password-hash.ts";
import { addressSubject, bindLimit, checkLimit, countHit, type RateLimit } from "../rate-limits/service.ts";
import { transferReactions } from "../reactions/service.ts";
import { getTenant } from "../tenants/service.ts";
import { bindToken, type IssuedToken } from "../tokens/service.ts";
import { consumeCode } from "../two-factor/service.ts";
import { loadTotp } from "../two-factor/totp.ts";
import { changePasswordHash, findImportedKinds, findSignInUser, type SignInUser } from "../users/credentials.ts";
import { users } from "../users/table.ts";
import { findVisitor } from "../visitors/actor.ts";
import { readProof, requireRightCode } from "./login-code.ts";
import type { LoginInput, LoginSession } from "./model.ts";

/** Login calls per address and store (specification, section 8). */
const loginCalls: RateLimit = { name: "login-calls", most: 30, windowMs: 20 * 60_000 };
/** How often a correct password is verified again because its hash was changed meanwhile. */
const maxTries = 3;
const auditedKinds: ReadonlySet<ErrorKind> = new Set(["twoFactorRequired", "invalidLogin", "tooManyAttempts"] as const);
/**
 * Refusals that must take the same time. tooManyAttempts is one: after other logins used the last attempt, a correct
 * password must not be answered faster.
 */
const equalizedKinds: ReadonlySet<ErrorKind> = new Set(["invalidLogin", "tooManyAttempts"] as const);

const noteLogin = statement((q) =>
  q
    .update(users)
    .set({ lastLoginAt: param("at") })
    .where(byId(users)),
);

/**
 * Logs a user in (specification, section 4). An unknown address, a wrong password and a wrong one-time code get the same
 * answer, count alike, and cost the same hashes. The likes and bookmarks of `visitor` become the user's; an invalid
 * `visitor` is ignored. With `code`, which was mailed, instead of a password, only customers can log in, in a store whose
 * setting `sign_in_by_mail` is on; no hash is verified then. A code that is used or expired does not count as a failure.
 * @throws validationFailed for a code in other stores, and for both or neither; twoFactorRequired when two-factor is on and `otp` is missing or empty (counts as no failure), invalidLogin, tooManyAttempts with
 * `retryAfter` after three failures for the email or 30 calls from the address, unavailable when too many passwords wait.
 */
export async function login(ctx: Ctx, input: LoginInput): Promise<LoginSession> {
  // An invalid address is treated like an unknown one.
  const key = emailKey(input.email) ?? input.email.trim().toLowerCase();
  const { codeTry, password } = readProof(ctx, input, key);
  let subject: string | undefined;
  let isRecorded = false;
  const verified: (string | null)[] = [];
  let user: SignInUser | undefined;
  let store: LoginSession["store"];
  const findUser = async () => {
    user = await findSignInUser(ctx.db, ctx.tenant.id, key);
  };
  const findStore = async () => {
    const { namespace, title, domain, url, currency, currency_sign, logo } = await getTenant(ctx, ctx.tenant.namespace);
    store = { namespace, title, domain, url, currency, currency_sign, logo };
  };
  // Reads that do not depend on each other share an exchange with a database server.
  const admit = async () => void (await Promise.all([requireCallsLeft(ctx), findUser(), findStore()]));
  const verify = async () => {
    for (let tries = 1; ; tries++) {
      if (tries > 1) await findUser();
      subject = user?.id;
      const hash = user?.status === "active" ? user.passwordHash : null;
      if (codeTry) {
        await requireRightCode(ctx, codeTry);
        if (user?.status !== "active" || user.role !== "customer") throw invalidLogin();
      } else {
        verified.push(hash);
        const isCorrect = await verifyPassword(password, hash, ctx.tenant.id, user?.id);
        if (!user || hash === null || !isCorrect) throw invalidLogin();
      }
      const proof = { otp: input.otp?.trim() ?? "", codeTry };
      const issued = await signIn(ctx, { ...user, passwordHash: hash }, proof).catch((error) => {
        if (error !== hashChanged) throw error;
      });
      if (issued) {
        const visitorId = input.visitor === undefined ? null : findVisitor(ctx, input.visitor);
        if (visitorId !== null) await transferReactions(ctx, visitorId, user.id);
        if (!codeTry && hash !== null && needsRehash(hash)) await renewHash(ctx, user, hash, password);
        return { user_id: user.id, token: issued.token, expires_at: issued.expiresAt, store };
      }
      if (tries === maxTries) throw invalidLogin();
    }
  };
  const attempt = async () => {
    try {
      return await verify();
    } catch (error) {
      if (!codeTry && error instanceof AppError && equalizedKinds.has(error.kind))
        await equalizeLoginTime(ctx, password, verified);
      throw error;
    }
  };
  const record = (tx: Ctx, refusal: AppError) => recordRefusal(tx, refusal, { key, subject });
  try {
    const note = async (tx: Ctx, refusal: AppError) => {
      isRecorded = true;
      if (codeTry) await countWrongTry(tx, codeTry);
      return record(tx, refusal);
    };
    return await limitFailures(ctx, key, attempt, { admit, note });
  } catch (error) {
    if (isRecorded || !(error instanceof AppError && auditedKinds.has(error.kind))) throw error;
    throw await inTransaction(ctx, (tx) => record(tx, error));
  }
}

/** Throws tooManyAttempts when an address has no calls left. */
async function requireCallsLeft(ctx: Ctx): Promise<void> {
  const waitMs = await checkLimit(ctx, loginCalls, callerOf(ctx));
  if (waitMs > 0) throw attemptsExhausted(waitMs);
}

/** The error tooManyAttempts with the longer wait of both limits, including this call. */
async function longestWait(tx: Ctx, key: string, refusal: AppError): Promise<AppError> {
  const waitMs = [await checkLimit(tx, loginCalls, callerOf(tx)), await failuresWaitMs(tx, key)];
  return attemptsExhausted(Math.max(...waitMs, (refusal.retryAfter ?? 0) * 1000));
}

function callerOf({ tenant, client, vault }: Ctx): string {
  return addressSubject(vault, client?.ip, tenant.id);
}

/** Counts and audits a refused call, without the email, because people type passwords into that field. */
async function recordRefusal(
  tx: Ctx,
  refusal: AppError,
  { key, subject }: { key: string; subject: string | undefined },
): Promise<AppError> {
  const isLimited = (await countHit(tx, loginCalls, callerOf(tx))) > 0 || refusal.kind === "tooManyAttempts";
  const answer = isLimited ? await longestWait(tx, key, refusal) : refusal;
  const event = answer.kind === "twoFactorRequired" ? "login.code_required" : "login.failed";
  await recordAudit(tx, { event, subject, error: answer.kind });
  return answer;
}

const hashChanged = new Error("The password was changed meanwhile.");

/** Creates the session of a user as it was read before the password was verified. Throws `hashChanged` for another hash. */
async function signIn(
  ctx: Ctx,
  user: SignInUser,
  { otp, codeTry }: { otp: string; codeTry: CodeTry | undefined },
): Promise<IssuedToken> {
  // The library for codes is loaded before the transaction, which should not wait for it.
  if (otp !== "") await loadTotp();
  return inTransaction(ctx, async (tx) => {
    const { id, emailKey, role } = user;
    const find = findSignInUser(tx.db, tx.tenant.id, emailKey);
    const [found] = await Promise.all([find, requireFailuresLeft(tx, emailKey), requireCallsLeft(tx)]);
    const isSame = found?.id === id && found.role === role && found.passwordHash === user.passwordHash;
    if (!isSame || found.status !== "active") throw hashChanged;
    if (codeTry) await requireRightCode(tx, codeTry);
    if (found.hasTwoFactor) {
      if (otp === "") throw twoFactorRequired();
      if (!(await consumeCode(tx, id, otp))) throw invalidLogin();
    }
    if (codeTry && found.isUnproven) await claimAccount(tx, id);
    const { issued, statements } = bindToken(tx, id);
    const details = { token_id: issued.tokenId, ...(codeTry && { by: "mailed code" }) };
    const actor = { kind: "user", userId: id, role } as const;
    await tx.db.batch([
      ...(codeTry ? [bindUse(tx, codeTry)] : []),
      bind(noteLogin, { tenantId: tx.tenant.id, id, at: toTimestamp(tx.now()) }),
      bindLimit(tx, loginCalls, callerOf(tx)).hit,
      bindLimit(tx, loginFailures, failureSubject(tx, emailKey)).clear,
      ...statements,
      bindAudit({ ...tx, actor }, { event: "login.succeeded", subject: id, details }),
    ]);
    return issued;
  });
}

/** Replaces an imported hash by our own kind. Called after the code is verified, or the time would reveal that the password was right. */
async function renewHash(ctx: Ctx, user: SignInUser, from: string, password: string): Promise<void> {
  try {
    const to = await hashPassword(password, ctx.tenant.id);
    await inTransaction(ctx, (tx) => changePasswordHash(tx, user.id, { from, to, isRenewal: true }));
  } catch (error) {
    // The user is logged in; the next login tries again.
    if (!(error instanceof AppError)) throw error;
  }
}

/**
 * Makes every refused login of a store take the same time, by verifying one hash of each kind that the store has: a
 * shorter time would reveal that a user exists and that their password was imported.
 * @param verified hashes that were verified already; null for the decoy.
 */
export async function equalizeLoginTime(ctx: Ctx, password: string, verified: readonly (string | null)[]) {
  try {
    const kinds = await findImportedKinds(ctx);
    for (const hash of hashesToVerify(kinds, verified)) await verifyPassword(password, hash, ctx.tenant.id);
  } catch (error) {
    // When no capacity is left for hashing, the refusal must still be returned and counted.
    if (!(error instanceof AppError)) throw error;
  }
}
