import { and, desc, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, createPurge, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, forbidden, resetCodeInvalid } from "../../errors.ts";
import { emailKey, parseEmail } from "../../values/email.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { type CodeKey, type CodeMail, mailCode, redeemCode } from "../mail-codes/service.ts";
import { assignGuestOrders } from "../orders/guests/persons.ts";
import { attemptsExhausted } from "../passwords/failures.ts";
import { hashPassword, verifyPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { callerSubject, checkLimit, consumeLimit, countHit, type RateLimit } from "../rate-limits/service.ts";
import { transferReactions } from "../reactions/service.ts";
import { findSignInUser } from "../users/credentials.ts";
import { nameKey, userColumns } from "../users/input.ts";
import { addUser } from "../users/service.ts";
import { readVisitor } from "../visitors/actor.ts";
import { signUps } from "./table.ts";

/** Limits sign-ups and verifications from an IP address in a store, because each of them hashes a password. */
const signUpCalls: RateLimit = { name: "sign-ups", max: 30, windowMs: 20 * 60_000 };
/** Limits of mails about sign-ups, to an email and of a store. Other mails do not count. */
const mailsToAddress: RateLimit = { name: "sign-up-mails-day", max: 10, windowMs: 86_400_000 };
const mailsOfStore: RateLimit = { name: "sign-up-mails-store", max: 300, windowMs: 3_600_000 };
const keptMs = 3 * 86_400_000;

type SignUp = Record<"email" | "password", string> & { [Name in "name" | "visitor" | "lang"]?: string | undefined };
type StoredSignUp = Pick<typeof signUps.$inferSelect, "email" | "name" | "lang" | "passwordHash" | "visitorId">;

const ofAddress = and(ofStore(signUps), eq(signUps.emailKey, param("emailKey")));
/** A verification tries its password on at most this many sign-ups with the same email, the latest first. */
const maxWaiting = 10;
const account = params("email", "name", "lang", "passwordHash", "visitorId", "createdAt");
const newSignUp = { ...params("tenantId", "emailKey", "client"), ...account };
const target = [signUps.tenantId, signUps.emailKey, signUps.client];
const putSignUp = statement((q) => q.insert(signUps).values(newSignUp).onConflictDoUpdate({ target, set: account }));
const fields = pick(signUps, "email", "name", "lang", "passwordHash", "visitorId");
const selectSignUps = statement((q) =>
  q.select(fields).from(signUps).where(ofAddress).orderBy(desc(signUps.createdAt)).limit(maxWaiting),
);
const removeSignUps = statement((q) => q.delete(signUps).where(ofAddress));

export const purgeSignUps = createPurge(signUps, sql`created_at <= ${param("before")}`, keptMs);

/**
 * Signs a customer up. If the store's `sign_up` is `open`, the account exists at once, and an email that already has an
 * account gets a mail about it. With `verified`, the account exists once the mailed code is verified. The same
 * statements then run for every email, because the account is looked up when the mail is sent.
 * @throws forbidden with `off`; validationFailed; weakPassword; tooManyAttempts after 30 calls from the IP address;
 * tooManyRequests after 300 mails of the store about sign-ups within an hour.
 */
export async function signUp(ctx: Ctx, input: SignUp): Promise<"verify" | "login"> {
  const { tenant } = ctx;
  if (tenant.signUp === "off") throw forbidden("Customers cannot sign up in this store.");
  requireStrongPassword("password", input.password);
  const { email, emailKey } = parseEmail("email", input.email);
  const { name = null, lang = null } = userColumns({ name: input.name, lang: input.lang });
  const visitorId = input.visitor === undefined ? null : readVisitor(ctx.vault, ctx.tenant.id, input.visitor);
  await countCall(ctx);
  const passwordHash = await hashPassword(input.password, tenant.id);
  const account = { email, name, lang, passwordHash, visitorId };
  await inTransaction(ctx, async (tx) => {
    if (tenant.signUp === "open") return openAccount(tx, { ...account, emailKey });
    const client = callerSubject(tx);
    // If a stranger has used up the mails of this email, no code is sent, but an earlier code verifies this sign-up.
    const to = { signUpKey: emailKey, client };
    await mailSignUp(tx, emailKey, { kind: "sign_up_code", to, language: lang ?? undefined });
    const createdAt = toTimestamp(tx.now());
    await run(tx.db, putSignUp, { ...account, tenantId: tenant.id, emailKey, client, createdAt });
    await recordAudit(tx, { event: "user.sign_up_requested" });
  });
  return tenant.signUp === "open" ? "login" : "verify";
}

async function openAccount(tx: Ctx, account: StoredSignUp & { emailKey: string }) {
  const { email, emailKey, name, lang } = account;
  if (await findSignInUser(tx.db, tx.tenant.id, emailKey)) {
    // This mail without a code counts towards the limits of mails with a code.
    await mailSignUp(tx, emailKey, { kind: "account_exists", to: { emailKey } });
    return recordAudit(tx, { event: "user.sign_up_requested" });
  }
  const { id } = await createCustomer(tx, account, false);
  const key = { purpose: "email", subject: `${id}:${emailKey}` } as const;
  await mailSignUp(tx, emailKey, { kind: "email_code", to: { email, name, lang } }, key);
}

/** Sends a mail, unless the recipient has had too many. Errors: tooManyRequests if the store has sent too many. */
async function mailSignUp(
  tx: Ctx,
  emailKey: string,
  mail: CodeMail,
  key: CodeKey = { purpose: "sign_up", subject: emailKey },
): Promise<void> {
  const address = `${tx.tenant.id}:${emailKey}`;
  if ((await checkLimit(tx, mailsToAddress, address)) > 0) return;
  if (!(await mailCode(tx, key, mail))) return;
  await countHit(tx, mailsToAddress, address);
  await consumeLimit(tx, mailsOfStore, tx.tenant.id, "Too many customers of this store are signing up.");
}

async function createCustomer(tx: Ctx, account: StoredSignUp & { emailKey: string }, emailVerified: boolean) {
  const { email, emailKey, name, lang, passwordHash, visitorId } = account;
  const columns = { name, nameKey: name && nameKey(name), lang, emailVerified, isUnproven: !emailVerified };
  const user = await addUser(tx, { columns, email, emailKey, role: "customer", passwordHash });
  if (visitorId !== null) await transferReactions(tx, visitorId, user.id);
  return user;
}

/**
 * Creates the account of a sign-up. The caller needs the mailed code and the password of the sign-up, because another
 * person may have signed up with the same email.
 * @throws resetCodeInvalid for a wrong, used or expired code, or a wrong password; tooManyAttempts.
 */
export async function verifySignUp(ctx: Ctx, { email, code, password }: Record<"email" | "code" | "password", string>) {
  const key = emailKey(email);
  if (key === null) throw resetCodeInvalid();
  const which = { tenantId: ctx.tenant.id, emailKey: key };
  await redeemCode(
    ctx,
    { purpose: "sign_up", subject: key, code: code.trim() },
    {
      async prepare() {
        await countCall(ctx);
        for (const stored of await all(ctx.db, selectSignUps, which)) {
          if (await verifyPassword(password, stored.passwordHash, ctx.tenant.id)) return stored;
        }
        return null;
      },
      async act(tx, stored): Promise<AppError | undefined> {
        await run(tx.db, removeSignUps, which);
        // Staff may have created a user with this email. That user must not get the password of the sign-up.
        if (await findSignInUser(tx.db, which.tenantId, key)) return resetCodeInvalid();
        const { id } = await createCustomer(tx, { ...stored, emailKey: key }, true);
        await assignGuestOrders(tx, { id, emailKey: key });
        return undefined;
      },
      refused: (tx) => recordAudit(tx, { event: "user.sign_up_failed", error: "resetCodeInvalid" }),
    },
  );
}

/** Mails a new code if a sign-up of the email waits for verification. Every email gets the same reply. */
export async function resendSignUpCode(ctx: Ctx, input: { email: string; lang?: string | undefined }): Promise<void> {
  const key = emailKey(input.email);
  if (key === null) return;
  await inTransaction(ctx, async (tx) => {
    await mailSignUp(tx, key, { kind: "sign_up_code", to: { signUpKey: key }, language: input.lang });
  });
}

async function countCall(ctx: Ctx): Promise<void> {
  const waitMs = await countHit(ctx, signUpCalls, callerSubject(ctx));
  if (waitMs > 0) throw attemptsExhausted(waitMs);
}
