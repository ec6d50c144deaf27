import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { type AppError, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { reauthenticate, requireSignedIn } from "./reauthenticate.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";
import { isTwoFactorOn, mailTwoFactorChange } from "./service.ts";
import { twoFactor } from "./table.ts";
import { drawQrCode, loadTotp, makeSecret, matchStep, otpauthUri } from "./totp.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;

/** How long an enrolment can be confirmed after it has begun. */
const begunMs = 3_600_000;
const isBegun = sql`${ofUser} and confirmed_at is null and created_at > ${param("since")}`;

const beginRow = statement(sql`
  insert into ${twoFactor} (user_id, tenant_id, secret, created_at)
  values (${param("userId")}, ${param("tenantId")}, ${param("secret")}, ${param("now")})
  on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
  where two_factor.confirmed_at is null`);
const selectBegun = statement<{ secret: string }>(sql`
  select secret from ${twoFactor} where ${isBegun}`);
// Stores the time step, so that the code that enrols cannot also log in.
const confirmRow = statement(sql`
  update ${twoFactor} set confirmed_at = ${param("now")}, last_step = ${param("step")}
  where ${isBegun} and secret = ${param("sealed")}`);

/** The secret for the user's authenticator, in three forms. */
export interface Enrolment {
  secret: string;
  otpauth_uri: string;
  qr_svg: string;
}

/**
 * Creates a secret for the calling user's authenticator. Logins ask for a code only once it is confirmed, within an hour;
 * until then, another call replaces the secret.
 * @throws wrongState when the second factor is on; invalidLogin, tooManyAttempts, tokenExpired.
 */
export async function beginTwoFactor(ctx: Ctx, { password }: { password: string }): Promise<Enrolment> {
  const user = await requireSignedIn(ctx);
  if (await isTwoFactorOn(ctx.db, ctx.tenant.id, user.id)) throw alreadyOn();
  const secret = await makeSecret();
  const uri = await otpauthUri(secret, ctx.tenant.title, user.email);
  await reauthenticate(ctx, user, { password }, async (tx) => {
    const sealed = tx.vault.seal("two-factor", user.id, secret);
    const values = { userId: user.id, tenantId: tx.tenant.id, secret: sealed, now: toTimestamp(tx.now()) };
    if ((await run(tx.db, beginRow, values)) === 0) throw alreadyOn();
    await recordAudit(tx, { event: "two_factor.begun", subject: user.id });
  });
  return { secret, otpauth_uri: uri, qr_svg: await drawQrCode(uri) };
}

/**
 * Enables the second factor, given a code of the new secret. The code cannot be used again.
 * @returns ten recovery codes, which are never shown again.
 * @throws wrongState when no enrolment was begun in the last hour; invalidLogin, tooManyAttempts, tokenExpired.
 */
export async function confirmTwoFactor(ctx: Ctx, { otp }: { otp: string }): Promise<string[]> {
  const user = await requireSignedIn(ctx);
  const makeKey = () => ({
    tenantId: ctx.tenant.id,
    userId: user.id,
    since: toTimestamp(ctx.now() - begunMs),
  });
  if (!(await get(ctx.db, selectBegun, makeKey()))) throw nothingBegun();
  await loadTotp();
  const spend = async (tx: Ctx) => {
    const key = makeKey();
    const begun = await get(tx.db, selectBegun, key);
    if (!begun) throw nothingBegun();
    const secret = tx.vault.open("two-factor", user.id, begun.secret);
    const step = secret === null ? null : await matchStep(secret, otp.replace(/[\s-]/g, ""), tx.now());
    if (step === null) return false;
    return (await run(tx.db, confirmRow, { ...key, step, sealed: begun.secret, now: toTimestamp(tx.now()) })) > 0;
  };
  return reauthenticate(ctx, user, { spend }, async (tx) => {
    const codes = await replaceRecoveryCodes(tx, user.id);
    await recordAudit(tx, { event: "two_factor.enabled", subject: user.id });
    await mailTwoFactorChange(tx, user, "enabled");
    return codes;
  });
}

function alreadyOn(): AppError {
  return wrongState("Two-factor authentication is enabled. Disable it first.");
}

function nothingBegun(): AppError {
  return wrongState("No two-factor enrolment is waiting for a code. Begin one first.");
}
