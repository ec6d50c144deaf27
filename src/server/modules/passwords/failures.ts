import { Semaphore } from "../../concurrency/semaphore.ts";
import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, type ErrorKind, invalidLogin, tooManyAttempts } from "../../errors.ts";
import { bindLimit, checkLimit, countHit, type RateLimit } from "../rate-limits/service.ts";

/** Failed sign-ins per tenant and email (specification, section 8). */
export const loginFailures: RateLimit = { name: "login-failures", max: 3, windowMs: 20 * 60_000 };

// So many attempts on one account wait only during an attack. Further attempts are then refused.
const oneAtATime = { permits: 1, maxWaiting: 128, fullMessage: "Too many sign-ins to this account are waiting." };

/** Marks a refusal that is not counted as a failure, because nothing was guessed. */
const notGuessed = Symbol("not guessed");

/** Refuses a one-time code that is used up, for example by a form sent twice. This does not count as a failure. */
export function codeUsedUp(): AppError {
  return invalidLogin(undefined, { cause: notGuessed });
}

const accounts = new Map<string, Semaphore>();

const refusedKinds: ReadonlySet<ErrorKind> = new Set(["invalidLogin", "twoFactorRequired", "tooManyAttempts"] as const);

/**
 * Runs an attempt to verify an account's password or one-time code, and counts it if it fails. After three failures
 * within 20 minutes, further attempts are refused. In this process, attempts on one account run in turn. Attempts in
 * other processes may run at the same time, but only one counts as the third failure; the others are refused.
 * @param emailKey the account's address in its comparable form, or the text that was sent instead.
 * @param attempt throws invalidLogin for a failure, which is counted; other errors, and `codeUsedUp`, are not counted.
 * @param admit reads what the attempt needs, and throws if it may not start. It may run twice.
 * @param record runs for each refusal, in the transaction that counts the failure, and may replace the refusal.
 * @throws tooManyAttempts with `retryAfter` after too many failures, unavailable when too many attempts wait.
 */
export async function limitFailures<T, A = void>(
  ctx: Ctx,
  emailKey: string,
  attempt: (admitted: A) => Promise<T>,
  options: { admit?: () => Promise<A>; record?: (tx: Ctx, refusal: AppError) => Promise<AppError> } = {},
): Promise<T> {
  const { admit = async () => undefined as A, record } = options;
  const subject = failureSubject(ctx, emailKey);
  const refuse = async (error: unknown): Promise<never> => {
    if (!(error instanceof AppError && refusedKinds.has(error.kind))) throw error;
    // The refusal is returned from the transaction, because throwing it inside would roll the count back.
    throw await inTransaction(ctx, async (tx) => {
      const isFailure = error.kind === "invalidLogin" && error.cause !== notGuessed;
      const refusal = (isFailure && (await countFailure(tx, emailKey))) || error;
      return record ? record(tx, refusal) : refusal;
    });
  };
  // A call that would not be admitted fails at once, instead of waiting for others.
  if (accounts.has(subject)) await admit().catch(refuse);
  return inTurn(subject, () =>
    Promise.all([admit(), requireFailuresLeft(ctx, emailKey)])
      .then(([admitted]) => attempt(admitted))
      .catch(refuse),
  );
}

/** Checks the failures again in the transaction, because other processes may have counted. Errors: tooManyAttempts. */
export async function requireFailuresLeft(ctx: Ctx, emailKey: string): Promise<void> {
  const waitMs = await failuresWaitMs(ctx, emailKey);
  if (waitMs > 0) throw attemptsExhausted(waitMs);
}

export function failuresWaitMs(ctx: Ctx, emailKey: string): Promise<number> {
  return checkLimit(ctx, loginFailures, failureSubject(ctx, emailKey));
}

export async function clearFailures(tx: Ctx, emailKey: string): Promise<void> {
  await tx.db.execute(bindLimit(tx, loginFailures, failureSubject(tx, emailKey)).clear);
}

export function attemptsExhausted(waitMs: number): AppError {
  return tooManyAttempts(undefined, { retryAfter: Math.ceil(waitMs / 1000) });
}

/** Counts a failed login. Returns tooManyAttempts if the limit was already reached. */
export async function countFailure(tx: Ctx, emailKey: string): Promise<AppError | undefined> {
  const waitMs = await countHit(tx, loginFailures, failureSubject(tx, emailKey));
  return waitMs > 0 ? attemptsExhausted(waitMs) : undefined;
}

/** The subject of `loginFailures`. It is hashed, because people type passwords into the wrong field. */
export function failureSubject({ tenant }: Ctx, emailKey: string): string {
  return Bun.SHA256.hash(`${tenant.id}:${emailKey}`, "base64url");
}

async function inTurn<T>(account: string, work: () => Promise<T>): Promise<T> {
  const turns = accounts.get(account) ?? new Semaphore(oneAtATime);
  accounts.set(account, turns);
  try {
    return await turns.run(work);
  } finally {
    if (turns.isIdle) accounts.delete(account);
  }
}
