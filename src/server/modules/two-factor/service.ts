import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import type { Executor } from "../../db/session.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden } from "../../errors.ts";
import { recordAudit } from "../audit/service.ts";
import { findSignInUserById } from "../users/credentials.ts";
import { tellOfChange } from "./notice.ts";
import { readRecoveryCode, removeRecoveryCodes, spendRecoveryCode } from "./recovery-codes.ts";
import { recoveryCodes, twoFactor } from "./table.ts";
import { loadTotp, matchStep } from "./totp.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;

const selectConfirmed = statement<{ secret: string }>(sql`
  select secret from ${twoFactor} where ${ofUser} and confirmed_at is not null`);
// Only ever forward: a code that has been accepted, and any older one, is refused, whoever asks at the same time.
const takeStep = statement(sql`
  update ${twoFactor} set last_step = ${param("step")}
  where ${ofUser} and confirmed_at is not null and last_step < ${param("step")}`);
const selectState = statement<{ confirmedAt: string | null; codesLeft: number }>(sql`
  select (select confirmed_at from ${twoFactor} where ${ofUser}) as confirmedAt,
    (select count(*) from ${recoveryCodes} where ${ofUser} and used_at is null) as codesLeft`);
const deleteTwoFactor = statement(sql`delete from ${twoFactor} where ${ofUser}`);

/** Whether a user's sign-in asks for a second factor: one that is only begun does not count. */
export async function isTwoFactorOn(db: Executor, tenantId: string, userId: string): Promise<boolean> {
  const isOn = (await get(db, selectConfirmed, { tenantId, userId })) !== undefined;
  // Who asks will judge a code in a transaction, which is no place to read a library from disk.
  if (isOn) await loadTotp();
  return isOn;
}

/** What a user may know of their second factor. */
export interface TwoFactorState {
  enabled: boolean;
  /** RFC 3339, UTC. */
  confirmed_at: string | null;
  recovery_codes_left: number;
}

/**
 * The second factor of the user who calls; one that is only begun is not enabled.
 * @throws forbidden for any other caller.
 */
export async function getOwnTwoFactor({ actor, db, tenant }: Ctx): Promise<TwoFactorState> {
  if (actor.kind !== "user") throw forbidden();
  const row = await get(db, selectState, { tenantId: tenant.id, userId: actor.userId });
  const confirmedAt = row?.confirmedAt ?? null;
  return { enabled: confirmedAt !== null, confirmed_at: confirmedAt, recovery_codes_left: row?.codesLeft ?? 0 };
}

/**
 * Judges and spends a one-time code or a recovery code, in the transaction of the act that it is for, so that it is
 * spent only if the act is done (RFC 6238, section 5.2: accepted once).
 * @returns false when it fits nothing that is left, or the secret was sealed with another key of the server.
 */
export async function spendCode(ctx: Ctx, userId: string, otp: string): Promise<boolean> {
  const digits = otp.replace(/[\s-]/g, "");
  if (/^\d{6}$/.test(digits)) return spendTimedCode(ctx, userId, digits);
  const code = readRecoveryCode(otp);
  if (code === null || !(await spendRecoveryCode(ctx, userId, code))) return false;
  await recordAudit(ctx, { event: "two_factor.recovery_code_used", subject: userId });
  return true;
}

/**
 * Takes a user's second factor away, for someone who has lost it, and lets them know. False when there was none, not
 * even a begun one.
 */
export function resetTwoFactor(ctx: Ctx, userId: string): Promise<boolean> {
  return inTransaction(ctx, async (tx) => {
    const wasOn = await isTwoFactorOn(tx.db, tx.tenant.id, userId);
    if (!(await removeTwoFactor(tx, userId))) return false;
    await recordAudit(tx, { event: "two_factor.reset", subject: userId });
    const user = wasOn ? await findSignInUserById(tx.db, tx.tenant.id, userId) : undefined;
    if (user) await tellOfChange(tx, user, "disabled");
    return true;
  });
}

/** Removes secret and recovery codes, in the transaction of the act. False when there was no secret. */
export async function removeTwoFactor(ctx: Ctx, userId: string): Promise<boolean> {
  await removeRecoveryCodes(ctx, userId);
  return (await run(ctx.db, deleteTwoFactor, { tenantId: ctx.tenant.id, userId })) > 0;
}

async function spendTimedCode(ctx: Ctx, userId: string, digits: string): Promise<boolean> {
  const key = { tenantId: ctx.tenant.id, userId };
  const row = await get(ctx.db, selectConfirmed, key);
  const secret = row ? ctx.vault.open("two-factor", userId, row.secret) : null;
  const step = secret === null ? null : await matchStep(secret, digits, ctx.now());
  return step !== null && (await run(ctx.db, takeStep, { ...key, step })) > 0;
}
