import { Semaphore } from "../../concurrency/semaphore.ts";
import type { Ctx } from "../../context.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, type ErrorKind, invalidLogin, tooManyAttempts } from "../../errors.ts";
import { bindLimit, checkLimit, countHit, type RateLimit } from "../rate-limits/service.ts";

/** Failed sign-ins per tenant and email (specification, section 8). */
export const loginFailures: RateLimit = { name: "login-failures", max: 3, windowMs: 20 * 60_000 };

// Only during an attack, more attempts wait for one account. Further attempts are refused.
const oneAtATime = { permits: 1, maxWaiting: 128, fullMessage: "Too many sign-ins to this account are waiting." };

/** The cause of a refusal that does not count as a failure, because nothing was guessed. */
const notGuessed = Symbol("not guessed");

/** Returns the error for a code that was used before, as when a form is sent twice. It does not count as a failure. */
export function codeUsedUp(): AppError {
  return invalidLogin(undefined, { cause: notGuessed });
}

const accounts = new Map<string, Semaphore>();

const refusedKinds: ReadonlySet<ErrorKind> = new Set(["invalidLogin", "twoFactorRequired", "tooManyAttempts"] as const);

/**
 * Runs an attempt to verify a password or one-time code, and counts its failure. After three failures within 20
 * minutes, attempts on the account are refused. This process runs one attempt on an account at a time. Other processes
 * may run attempts at the same time, but the database counts at most three failures.
 * @param emailKey the account's address in its comparable form, or the text that was sent instead.
 * @param attempt throws invalidLogin for a failure. Other errors, and `codeUsedUp`, are not counted.
 * @param admit reads the attempt's input, or throws if the attempt may not start. This function may run twice.
 * @param record runs for each refusal, in the transaction that counts the failure. Returns the error to throw.
 * @throws tooManyAttempts with `retryAfter` after three failures; unavailable if too many attempts wait.
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
    // The transaction returns the refusal, because throwing it there would roll the count back.
    throw await inTransaction(ctx, async (tx) => {
      const isFailure = error.kind === "invalidLogin" && error.cause !== notGuessed;
      const waitMs = isFailure ? await countHit(tx, loginFailures, subject) : 0;
      const refusal = waitMs > 0 ? attemptsExhausted(waitMs) : error;
      return record ? record(tx, refusal) : refusal;
    });
  };
  // A call that is not admitted fails before it waits for its turn.
  if (accounts.has(subject)) await admit().catch(refuse);
  return inTurn(subject, () =>
    Promise.all([admit(), requireFailuresLeft(ctx, emailKey)])
      .then(([admitted]) => attempt(admitted))
      .catch(refuse),
  );
}

/** Throws tooManyAttempts after three failures. Call it again in a transaction: other processes count failures, too. */
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

/** Returns the subject under which failures count. It is hashed, because people type passwords into the wrong field. */
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
