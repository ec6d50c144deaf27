import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { createPurge } from "../../db/purge.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, forbidden, resetCodeInvalid } from "../../errors.ts";
import { emailKey, parseEmail } from "../../values/email.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { mailCode, redeemCode } from "../mail-codes/service.ts";
import { attemptsExhausted } from "../passwords/failures.ts";
import { hashPassword, verifyPassword } from "../passwords/password-hash.ts";
import { requireStrongPassword } from "../passwords/password-policy.ts";
import { addressSubject, countHit, type RateLimit } from "../rate-limits/service.ts";
import { claimReactions } from "../reactions/service.ts";
import { findSignInUser } from "../users/credentials.ts";
import { userColumns } from "../users/input.ts";
import { addUser } from "../users/service.ts";
import { findVisitor } from "../visitors/actor.ts";
import type { SignUp, SignUpVerification } from "./model.ts";
import { signUps } from "./table.ts";

/** Sign-ups, and verifications with a right code, per address of a client and store: each hashes a password. */
const signUpCalls: RateLimit = { name: "sign-ups", most: 30, windowMs: 20 * 60_000 };
/** How long an account waits for its verification. */
const keptMs = 3 * 86_400_000;

interface StoredSignUp {
  email: string;
  name: string | null;
  lang: string | null;
  passwordHash: string;
  visitorId: string | null;
}

const ofAddress = sql`tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`;
// As many as an address gets mails while a code is valid, so that nobody's sign-up replaces one whose code is valid.
const selectNextSlot = statement<{ slot: number }>(sql`
  select coalesce((select slot % 3 + 1 from ${signUps} where ${ofAddress} order by created_at desc, slot desc limit 1), 1) as slot`);
const putSignUp = statement(sql`
  insert or replace into ${signUps} (tenant_id, email_key, slot, email, name, lang, password_hash, visitor_id, created_at)
  values (${param("tenantId")}, ${param("emailKey")}, ${param("slot")}, ${param("email")}, ${param("name")},
    ${param("lang")}, ${param("passwordHash")}, ${param("visitorId")}, ${param("now")})`);
const selectSignUps = statement<StoredSignUp>(sql`
  select email, name, lang, password_hash as passwordHash, visitor_id as visitorId from ${signUps}
  where ${ofAddress} and ${param("slot")} in (slot, 0)`);
const removeSignUps = statement(sql`delete from ${signUps} where ${ofAddress}`);

export const purgeSignUps = createPurge(signUps, sql`created_at <= ${param("before")}`, keptMs);

/**
 * Signs a customer up, as the store's setting `sign_up` says. With `verified` the account exists once the mailed code is
 * verified, and the same statements run for every address: whether it has an account is looked up when the mail is sent.
 * With `open` the account exists at once, and its address can be verified later; an address that has an account gets a
 * mail about it.
 * @throws forbidden with `off`; validationFailed, weakPassword; tooManyAttempts after 30 calls from the address.
 */
export async function signUp(ctx: Ctx, input: SignUp & { lang?: string | undefined }): Promise<"verify" | "login"> {
  const { tenant } = ctx;
  if (tenant.signUp === "off") throw forbidden("Customers cannot sign up in this store.");
  requireStrongPassword("password", input.password);
  const { email, emailKey } = parseEmail("email", input.email);
  const { name = null, nameKey = null, lang = null } = userColumns({ name: input.name, lang: input.lang });
  const visitorId = input.visitor === undefined ? null : findVisitor(ctx, input.visitor);
  await countCall(ctx);
  const passwordHash = await hashPassword(input.password, tenant.id);
  const account = { email, name, lang, passwordHash, visitorId };
  await inTransaction(ctx, async (tx) => {
    if (tenant.signUp === "open") return openAccount(tx, { ...account, emailKey, nameKey });
    const which = { tenantId: tenant.id, emailKey };
    const slot = (await get(tx.db, selectNextSlot, which))?.slot ?? 1;
    const mail = { kind: "sign_up_code", to: { signUpKey: emailKey, slot }, language: lang ?? undefined } as const;
    if (!(await mailCode(tx, { purpose: "sign_up", subject: emailKey, slot }, mail))) return;
    await run(tx.db, putSignUp, { ...account, ...which, slot, now: toTimestamp(tx.now()) });
    await recordAudit(tx, { event: "user.sign_up_requested" });
  });
  return tenant.signUp === "open" ? "login" : "verify";
}

async function openAccount(tx: Ctx, account: StoredSignUp & { emailKey: string; nameKey: string | null }) {
  const { email, emailKey, name, nameKey, lang } = account;
  if (await findSignInUser(tx.db, tx.tenant.id, emailKey)) {
    // Its text has no code; only the number of mails counts.
    await mailCode(tx, { purpose: "sign_up", subject: emailKey }, { kind: "account_exists", to: { emailKey } });
    return recordAudit(tx, { event: "user.sign_up_requested" });
  }
  const { id } = await createCustomer(tx, account, { emailKey, nameKey, emailVerified: 0 });
  const mail = { kind: "email_code", to: { email, name, lang } } as const;
  await mailCode(tx, { purpose: "email", subject: `${id}:${emailKey}` }, mail);
}

async function createCustomer(
  tx: Ctx,
  { email, name, lang, passwordHash, visitorId }: StoredSignUp,
  { emailKey, nameKey, emailVerified }: { emailKey: string; nameKey: string | null; emailVerified: number },
) {
  const columns = { name, nameKey, lang, emailVerified };
  const user = await addUser(tx, { columns, email, emailKey, role: "customer", passwordHash });
  if (visitorId !== null) await claimReactions(tx, visitorId, user.id);
  return user;
}

/**
 * Creates the account of a sign-up, given the code that was mailed for it and its password; a code that was mailed again
 * is for each sign-up that waits, with its password. Somebody else may have signed up with the address, too.
 * @throws resetCodeInvalid for a wrong, used or expired code, or a wrong password; tooManyAttempts.
 */
export async function verifySignUp(ctx: Ctx, { email, code, password }: SignUpVerification): Promise<void> {
  const key = emailKey(email);
  if (key === null) throw resetCodeInvalid();
  const which = { tenantId: ctx.tenant.id, emailKey: key };
  await redeemCode(
    ctx,
    { purpose: "sign_up", subject: key, code: code.trim() },
    {
      async prepare(slot) {
        await countCall(ctx);
        for (const stored of await all(ctx.db, selectSignUps, { ...which, slot })) {
          if (await verifyPassword(password, stored.passwordHash, ctx.tenant.id)) return stored;
        }
        return null;
      },
      async act(tx, stored): Promise<AppError | undefined> {
        await run(tx.db, removeSignUps, which);
        // Somebody who manages the store may have created the user meanwhile.
        if (await findSignInUser(tx.db, which.tenantId, key)) return resetCodeInvalid();
        const { nameKey = null } = userColumns({ name: stored.name });
        await createCustomer(tx, stored, { emailKey: key, nameKey, emailVerified: 1 });
        return undefined;
      },
      refused: (tx) => recordAudit(tx, { event: "user.sign_up_failed", error: "resetCodeInvalid" }),
    },
  );
}

/** Mails another code to an address that waits for its verification, as `signUp` does, and as silently. */
export async function resendSignUpCode(ctx: Ctx, input: { email: string; lang?: string | undefined }): Promise<void> {
  const key = emailKey(input.email);
  if (key === null) return;
  await inTransaction(ctx, async (tx) => {
    const mail = { kind: "sign_up_code", to: { signUpKey: key }, language: input.lang } as const;
    await mailCode(tx, { purpose: "sign_up", subject: key }, mail);
  });
}

async function countCall(ctx: Ctx): Promise<void> {
  const waitMs = await countHit(ctx, signUpCalls, addressSubject(ctx.vault, ctx.client?.ip, ctx.tenant.id));
  if (waitMs > 0) throw attemptsExhausted(waitMs);
}
