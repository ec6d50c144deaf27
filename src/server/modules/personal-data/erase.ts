import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { twoFactorRequired, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { eraseAddressesOf } from "../audit/service.ts";
import { idempotencyKeys } from "../idempotency/table.ts";
import { maskAddress } from "../mail/outbox.ts";
import { mailOutbox } from "../mail/table.ts";
import { mailCodes } from "../mail-codes/table.ts";
import { pushMessages } from "../notifications/table.ts";
import { orderRefunds, orders } from "../orders/table.ts";
import { rateLimits } from "../rate-limits/table.ts";
import { rewardEntries } from "../rewards/table.ts";
import { signUps } from "../sign-up/table.ts";
import { requireSignedIn, verifyThenAct } from "../two-factor/enrolment.ts";
import { isTwoFactorOn, spendCode } from "../two-factor/service.ts";
import { loadTotp } from "../two-factor/totp.ts";
import type { SignInUser } from "../users/credentials.ts";
import { requireStoredUser } from "../users/guards.ts";
import { removeUser } from "../users/service.ts";
import { findMailTo } from "./mail.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("id")}`;
const selectOpen = statement<{ number: number }>(sql`
  select number from ${orders} where ${ofUser} and status in ('pending', 'paid') order by number limit 1`);
/** In this order: refunds are found by the order's user, and notes of the ledger stay while there is a user. */
const erasures = [
  sql`update ${orderRefunds} set reason = null where reason is not null and order_id in (select id from ${orders} where ${ofUser})`,
  sql`update ${orders} set user_id = null, buyer = null, shipping_address = null, note = null, version = version + 1,
    updated_at = ${param("now")} where ${ofUser}`,
  sql`update ${rewardEntries} set note = null where ${ofUser} and note is not null`,
  sql`update ${mailOutbox} set sealed = null, status = iif(status = 'queued', 'dropped', status),
    updated_at = ${param("now")} where tenant_id = ${param("tenantId")} and id in (select value from json_each(${param("mail")}))`,
  // Another address may look the same when masked; the log only loses its mask.
  sql`update ${mailOutbox} set masked_to = null where tenant_id = ${param("tenantId")} and masked_to = ${param("masked")}`,
  sql`delete from ${mailCodes} where tenant_id = ${param("tenantId")}
    and (subject = ${param("emailKey")} or substr(subject, 1, length(${param("id")}) + 1) = ${param("id")} || ':')`,
  sql`delete from ${signUps} where tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`,
  sql`delete from ${pushMessages} where ${ofUser}`,
  sql`delete from ${idempotencyKeys} where tenant_id = ${param("tenantId")}
    and (caller = 'user:' || ${param("id")} or instr(data, ${param("id")}) > 0)`,
  sql`delete from ${rateLimits} where instr(key, ${param("id")}) > 0
    or substr(key, -length(${param("account")})) = ${param("account")}`,
].map((erasure) => statement(erasure));

/**
 * Erases a user: as `deleteUser`, and orders, refunds, the ledger, the mail log and the audit log keep their numbers, but
 * nothing that names the person. Their random id stays in the ledger and the audit log, where it names nobody.
 * @throws wrongState for the last active owner, unless the terminal's actor says otherwise, and while an order is not
 * completed or cancelled; notFound, forbidden.
 */
export function eraseUser(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => erase(tx, await requireStoredUser(tx, id)));
}

/**
 * Erases the calling user, who proves with the password, and the second factor if it is on, that it is them.
 * @throws twoFactorRequired, invalidLogin, tooManyAttempts, tokenExpired; wrongState as `eraseUser`.
 */
export async function eraseSelf(ctx: Ctx, given: { password: string; otp?: string }): Promise<void> {
  const otp = given.otp?.trim() ?? "";
  const user = await requireSignedIn(ctx);
  if (otp !== "") await loadTotp();
  const spend = async (tx: Ctx) => {
    if (!(await isTwoFactorOn(tx.db, tx.tenant.id, user.id))) return true;
    if (otp === "") throw twoFactorRequired();
    return spendCode(tx, user.id, otp);
  };
  const proof = { password: given.password, spend, failed: "user.erase_failed" } as const;
  await verifyThenAct(ctx, user, proof, (tx) => erase(tx, user));
}

async function erase(tx: Ctx, user: SignInUser): Promise<void> {
  const { id, email, emailKey } = user;
  const tenantId = tx.tenant.id;
  const account = `${tenantId}:${emailKey}`;
  const values = { tenantId, id, emailKey, account, masked: maskAddress(email), now: toTimestamp(tx.now()) };
  const open = await get(tx.db, selectOpen, values);
  if (open) throw wrongState(`Order ${open.number} of this user is not completed. Fulfil, cancel or refund it first.`);
  const mail = JSON.stringify((await findMailTo(tx, emailKey)).map((one) => one.id));
  await removeUser(tx, user, { ifMatch: null, event: "user.erased" });
  await tx.db.batch(erasures.map((erasure) => bind(erasure, { ...values, mail })));
  // Last, as it covers the entry of this act too.
  await eraseAddressesOf(tx, id);
}
