import { sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { yieldToEventLoop } from "../../concurrency/event-loop.ts";
import type { Ctx } from "../../context.ts";
import { all, bind, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { twoFactorRequired, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { eraseAddressesOf, recordAudit } from "../audit/service.ts";
import { auditLog } from "../audit/table.ts";
import { idempotencyKeys } from "../idempotency/table.ts";
import { recipientKey } from "../mail/outbox.ts";
import { mailOutbox } from "../mail/table.ts";
import { mailCodes } from "../mail-codes/table.ts";
import { pushMessages, pushRegistrations } from "../notifications/table.ts";
import { orderRefunds, orders } from "../orders/table.ts";
import { readOrderPages } from "../orders/views.ts";
import { consumeLimit } from "../rate-limits/service.ts";
import { rateLimits } from "../rate-limits/table.ts";
import { reactions } from "../reactions/table.ts";
import { rewardEntries } from "../rewards/table.ts";
import { signUps } from "../sign-up/table.ts";
import { userTokens } from "../tokens/table.ts";
import { requireSignedIn, verifyThenAct } from "../two-factor/enrolment.ts";
import { consumeCode, isTwoFactorOn } from "../two-factor/service.ts";
import { loadTotp } from "../two-factor/totp.ts";
import type { SignInUser } from "../users/credentials.ts";
import { ownIdOf, requireStoredUser } from "../users/guards.ts";
import { getUser, removeUser } from "../users/service.ts";
import { wishlistItems } from "../wishlist/table.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("id")}`;
const selectOpen = statement(sql`
  select number from ${orders} indexed by orders_by_user where ${ofUser} and status in ('pending', 'paid') order by +number limit 1`);
const toPerson = sql`recipient_key = ${param("recipientKey")}`;
/** The order matters: refunds are found by the order's user, and a user's notes in the ledger are immutable. */
const erasures = [
  sql`update ${orderRefunds} set reason = null where reason is not null and order_id in (select id from ${orders} where ${ofUser})`,
  sql`update ${orders} set user_id = null, buyer = null, shipping_address = null, note = null, version = version + 1,
    updated_at = ${param("now")} where ${ofUser}`,
  sql`update ${rewardEntries} set note = null where ${ofUser} and note is not null`,
  sql`update ${mailOutbox} set sealed = null, masked_to = null, recipient_key = null,
    status = iif(status = 'waiting', 'dropped', status), finished_at = coalesce(finished_at, ${param("now")})
    where tenant_id = ${param("tenantId")} and ${toPerson}`,
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
 * Erases a user as `deleteUser` does. Orders, refunds, the ledger, the mail log and the audit log keep their numbers,
 * but nothing that names the person. The random id stays; it identifies nobody.
 * @throws wrongState for the last active owner, unless the terminal's actor allows it, and while an order is not
 * completed or cancelled; notFound, forbidden.
 */
export function eraseUser(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => erase(tx, await requireStoredUser(tx, id)));
}

/** Erases the caller, who proves their identity. Errors: as `verifyThenAct`, twoFactorRequired, wrongState. */
export async function eraseSelf(ctx: Ctx, given: { password: string; otp?: string }): Promise<void> {
  const otp = given.otp?.trim() ?? "";
  const user = await requireSignedIn(ctx);
  if (otp !== "") await loadTotp();
  const spend = async (tx: Ctx) => {
    if (!(await isTwoFactorOn(tx.db, tx.tenant.id, user.id))) return true;
    if (otp === "") throw twoFactorRequired();
    return consumeCode(tx, user.id, otp);
  };
  const proof = { password: given.password, spend, failed: "user.erase_failed" } as const;
  await verifyThenAct(ctx, user, proof, (tx) => erase(tx, user));
}

async function erase(tx: Ctx, user: SignInUser): Promise<void> {
  const { id, emailKey } = user;
  const tenantId = tx.tenant.id;
  const account = `${tenantId}:${emailKey}`;
  const ids = { id, emailKey, account, recipientKey: recipientKey(tx.vault, emailKey) };
  const values = { tenantId, ...ids, now: toTimestamp(tx.now()) };
  const open = await get(tx.db, selectOpen, values);
  if (open) throw wrongState(`Order ${open.number} of this user is not completed. Fulfil, cancel or refund it first.`);
  await removeUser(tx, user, { ifMatch: null, event: "user.erased" });
  await tx.db.batch(erasures.map((erasure) => bind(erasure, values)));
  // This comes last, because it must also erase the address in the entry of this act.
  await eraseAddressesOf(tx, id);
}

const select = (columns: string, table: SQLiteTable, condition = sql`user_id = ${param("id")}`) =>
  statement(sql`select ${sql.raw(columns)} from ${table} where tenant_id = ${param("tenantId")} and ${condition}`);
const sections = {
  sessions: select("id as token_id, created_at, expires_at, ended_at, ended_as", userTokens),
  devices: select("id, platform, lang, created_at, updated_at", pushRegistrations),
  rewards: select("id, kind, points, balance, source, order_id, note, created_at", rewardEntries),
  wishlist: select("id, product_id, variant_id, note, created_at, updated_at", wishlistItems),
  reactions: select("kind, resource_type, resource_id, created_at", reactions, sql`actor = ${param("id")}`),
  mail: select(
    "id, kind, status, created_at, iif(status = 'sent', finished_at, null) as sent_at",
    mailOutbox,
    toPerson,
  ),
};
const selectAudit = statement(sql`
  select at, event, actor_kind, actor_id, subject, address, code, details from ${auditLog} where seq in (
    select seq from ${auditLog} where subject = ${param("id")} union select seq from ${auditLog} where actor_id = ${param("id")})
    and not (event = 'user.exported' and actor_id is ${param("id")})
  order by seq`);

const exportCalls = { name: "export", max: 10, windowMs: 3_600_000 };

/** Exports the caller's data, at most ten times an hour. Errors: tooManyRequests. */
export async function exportSelf(ctx: Ctx) {
  const id = ownIdOf(ctx);
  await consumeLimit(ctx, exportCalls, id, "Too many exports.");
  return exportPerson(ctx, id);
}

/** Omits hashes, secrets, and entries of own exports, which would make each export longer. Errors: notFound. */
export async function exportPerson(ctx: Ctx, id: string) {
  const user = await getUser(ctx, id);
  const values = { tenantId: ctx.tenant.id, id, recipientKey: recipientKey(ctx.vault, user.email) };
  const orders: object[] = [];
  for await (const page of readOrderPages(ctx, { customer_id: id })) {
    orders.push(...page.map(({ order }) => order));
    // Exports queue apart from the store's short requests, so that they do not delay these.
    await yieldToEventLoop(`${ctx.tenant.id} export`, ctx);
  }
  const rows = await Promise.all(
    Object.entries(sections).map(async ([name, of]) => [name, await all(ctx.db, of, values)] as const),
  );
  const audit = await all(ctx.db, selectAudit, { id });
  await recordAudit(ctx, { event: "user.exported", subject: id });
  const entries = audit.map(({ details, ...entry }) => ({ ...entry, details: details && JSON.parse(String(details)) }));
  return { user, orders, ...Object.fromEntries(rows), audit: entries };
}
