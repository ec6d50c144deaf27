import { sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { yieldToEventLoop } from "../../concurrency/event-loop.ts";
import type { Ctx } from "../../context.ts";
import { all, bind, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden, notFound, twoFactorRequired, wrongState } from "../../errors.ts";
import { emailKey, parseEmail } from "../../values/email.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { eraseAddressesOf, recordAudit } from "../audit/service.ts";
import { auditLog } from "../audit/table.ts";
import { idempotencyKeys } from "../idempotency/table.ts";
import { recipientKey } from "../mail/outbox.ts";
import { mailOutbox } from "../mail/table.ts";
import { mailCodes } from "../mail-codes/table.ts";
import { pushMessages, pushRegistrations } from "../notifications/table.ts";
import { eraseFromOrders, listGuestOrders, listUserOrders } from "../orders/guests/persons.ts";
import { type OrderFilter, readOrderPages } from "../orders/list.ts";
import { withdrawals } from "../orders/withdrawals/table.ts";
import { consumeLimit } from "../rate-limits/service.ts";
import { rateLimits } from "../rate-limits/table.ts";
import { reactions } from "../reactions/table.ts";
import { rewardEntries } from "../rewards/table.ts";
import { signUps } from "../sign-up/table.ts";
import { selectSettings } from "../tenants/table.ts";
import { userTokens } from "../tokens/table.ts";
import { consumeCode } from "../two-factor/service.ts";
import { loadTotp } from "../two-factor/totp.ts";
import { findSignInUser, type SignInUser } from "../users/credentials.ts";
import { isSelf, requireSignedIn, requireStoredUser } from "../users/guards.ts";
import { reauthenticate } from "../users/reauthenticate.ts";
import { getUser, removeUser } from "../users/service.ts";
import { wishlistItems } from "../wishlist/table.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("id")}`;
const toPerson = sql`recipient_key = ${param("recipientKey")}`;
const ofEmail = sql`tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`;
/** Statements that erase the records of an email address, even one that no user has. */
const addressErasures = [
  sql`update ${withdrawals} set email = '', email_key = '', name = '', text = null where ${ofEmail}`,
  sql`update ${mailOutbox} set sealed = null, masked_to = null, recipient_key = null,
    status = iif(status = 'waiting', 'dropped', status), finished_at = coalesce(finished_at, ${param("now")})
    where tenant_id = ${param("tenantId")} and ${toPerson}`,
  sql`delete from ${signUps} where ${ofEmail}`,
  sql`delete from ${mailCodes} where tenant_id = ${param("tenantId")} and subject = ${param("emailKey")}`,
  sql`delete from ${rateLimits} where substr(key, -length(${param("account")})) = ${param("account")}`,
  sql`delete from ${idempotencyKeys} where tenant_id = ${param("tenantId")}
    and exists (select 1 from json_each(${param("named")}) where instr(data, value) > 0)`,
].map((erasure) => statement(erasure));
/** Statements that erase a user's records. A trigger allows changes of the ledger only after the user is deleted. */
const userErasures = [
  sql`update ${rewardEntries} set note = null where ${ofUser} and note is not null`,
  sql`delete from ${mailCodes} where tenant_id = ${param("tenantId")}
    and substr(subject, 1, length(${param("id")}) + 1) = ${param("id")} || ':'`,
  sql`delete from ${pushMessages} where ${ofUser}`,
  sql`delete from ${idempotencyKeys} where tenant_id = ${param("tenantId")} and caller = 'user:' || ${param("id")}`,
  sql`delete from ${rateLimits} where instr(key, ${param("id")}) > 0`,
].map((erasure) => statement(erasure));

type OwnOrder = Record<string, unknown>;

/**
 * Deletes a user, and erases personal data from the user's orders, refunds, ledger, mails and audit entries.
 * Paid orders keep name and addresses, because tax law asks for them. The random user id stays, but identifies nobody.
 * @throws wrongState for the last active owner, and while an order is pending or paid; notFound; forbidden.
 */
export function eraseUser(ctx: Ctx, id: string): Promise<void> {
  if (isSelf(ctx, id)) throw forbidden("You cannot erase your own account here. Call POST /users/me/erase/.");
  return inTransaction(ctx, async (tx) => erase(tx, await requireStoredUser(tx, id)));
}

/** Erases the calling user, after verifying password and code. Errors: as `reauthenticate`, twoFactorRequired. */
export async function eraseSelf(ctx: Ctx, given: { password: string; otp?: string }): Promise<void> {
  const otp = given.otp?.trim() ?? "";
  const user = await requireSignedIn(ctx);
  if (otp !== "") await loadTotp();
  const spend = async (tx: Ctx, { hasTwoFactor }: SignInUser) => {
    if (!hasTwoFactor) return true;
    if (otp === "") throw twoFactorRequired();
    return consumeCode(tx, user.id, otp);
  };
  const proof = { password: given.password, spend, failed: "user.erase_failed" } as const;
  await reauthenticate(ctx, user, proof, (tx) => erase(tx, user));
}

async function erase(tx: Ctx, user: SignInUser): Promise<void> {
  const { id, emailKey } = user;
  const own = await listUserOrders(tx, id);
  requireEnded(own, "this user");
  await removeUser(tx, user, { ifMatch: null, event: "user.erased" });
  await tx.db.batch(userErasures.map((erasure) => bind(erasure, { tenantId: tx.tenant.id, id })));
  await eraseAddress(tx, emailKey, own, [id]);
  // Runs last, so that it also erases the IP address in the audit entry of this erasure.
  await eraseAddressesOf(tx, id);
}

/** Throws wrongState while one of the orders is pending or paid. */
function requireEnded(own: readonly OwnOrder[], whose: string): void {
  const open = own.find(({ status }) => status === "pending" || status === "paid");
  if (open) throw wrongState(`Order ${open.number} of ${whose} is not completed. Fulfil, cancel or refund it first.`);
}

/** Erases an email address and personal data of orders `own`. Deletes stored replies that contain a text of `named`. */
async function eraseAddress(tx: Ctx, emailKey: string, own: readonly OwnOrder[], named: string[]): Promise<void> {
  const tenantId = tx.tenant.id;
  const values = {
    ...{ tenantId, emailKey, account: `${tenantId}:${emailKey}`, recipientKey: recipientKey(tx.vault, emailKey) },
    ...{ named: JSON.stringify(named), now: toTimestamp(tx.now()) },
  };
  const ids = own.map(({ id }) => String(id));
  await eraseFromOrders(tx, ids);
  await tx.db.batch(addressErasures.map((erasure) => bind(erasure, values)));
}

const select = (columns: string, table: SQLiteTable, condition = sql`user_id = ${param("id")}`) =>
  statement(sql`select ${sql.raw(columns)} from ${table} where tenant_id = ${param("tenantId")} and ${condition}`);
const sections = {
  sessions: select("id as token_id, created_at, expires_at, ended_at, ended_as", userTokens),
  devices: select("id, platform, lang, created_at, updated_at", pushRegistrations),
  rewards: select("id, kind, points, balance, source, order_id, note, created_at", rewardEntries),
  wishlist: select("id, product_id, variant_id, note, created_at, updated_at", wishlistItems),
  reactions: select("kind, resource_type, resource_id, created_at", reactions, sql`actor = ${param("id")}`),
};
const withdrawn = "id, number, email, name, lines, text, created_at";
const mailed = "id, kind, status, created_at, iif(status = 'sent', finished_at, null) as sent_at";
const ofAddress = {
  withdrawals: select(withdrawn, withdrawals, sql`email_key = ${param("emailKey")}`),
  mail: select(mailed, mailOutbox, toPerson),
};

async function exportAddress(ctx: Ctx, emailKey: string) {
  const values = { tenantId: ctx.tenant.id, emailKey, recipientKey: recipientKey(ctx.vault, emailKey) };
  return {
    withdrawals: await all(ctx.db, ofAddress.withdrawals, values),
    mail: await all(ctx.db, ofAddress.mail, values),
  };
}

/** Returns a text about how long orders name their buyers. */
async function describeRetention(ctx: Ctx): Promise<string> {
  const { keepInvoices: years } = (await get(ctx.db, selectYears, { tenantId: ctx.tenant.id })) ?? {};
  return `Orders name their buyer for ${years} years from the end of the year of their last change, as tax law asks. Unpaid orders of guests name their buyer for 30 days. After an erasure, only paid orders and their invoices have a name and addresses.`;
}
const selectYears = selectSettings("keepInvoices");
const selectAudit = statement(sql`
  select at, event, actor_kind, actor_id, subject, address, code, details from ${auditLog} where seq in (
    select seq from ${auditLog} where subject = ${param("id")} union select seq from ${auditLog} where actor_id = ${param("id")})
    and not (event = 'user.exported' and actor_id is ${param("id")})
  order by seq`);

const exportCalls = { name: "export", max: 10, windowMs: 3_600_000 };

/** Exports a user's data for a caller who may read them, at most ten times an hour. Errors: notFound, forbidden. */
export async function exportUser(ctx: Ctx, id: string) {
  if (!isSelf(ctx, id)) await requireStoredUser(ctx, id);
  await consumeLimit(ctx, exportCalls, id, "Too many exports.");
  return exportPerson(ctx, id);
}

/** Exports a user's data, without secrets and without audit entries about the user's own exports. Errors: notFound. */
export async function exportPerson(ctx: Ctx, id: string) {
  const user = await getUser(ctx, id);
  const values = { tenantId: ctx.tenant.id, id };
  const orders = await exportOrders(ctx, { customer_id: id });
  const rows = await Promise.all(
    Object.entries(sections).map(async ([name, of]) => [name, await all(ctx.db, of, values)] as const),
  );
  const audit = await all(ctx.db, selectAudit, { id });
  await recordAudit(ctx, { event: "user.exported", subject: id });
  const entries = audit.map(({ details, ...entry }) => ({ ...entry, details: details && JSON.parse(String(details)) }));
  const address = await exportAddress(ctx, emailKey(user.email) ?? user.email);
  const retention = await describeRetention(ctx);
  return { user, orders, retention, ...Object.fromEntries(rows), ...address, audit: entries };
}

async function exportOrders(ctx: Ctx, filter: OrderFilter): Promise<object[]> {
  const orders: object[] = [];
  for await (const page of readOrderPages(ctx, filter)) {
    orders.push(...page);
    // Exports have a queue of their own, so that they do not delay the store's other requests.
    await yieldToEventLoop(`${ctx.tenant.id} export`, ctx);
  }
  return orders;
}

/**
 * Returns all data about an email address that no user has: orders, withdrawals and mails.
 * @throws validationFailed; wrongState if a user has the address; notFound if there are no data.
 */
export async function exportGuest(ctx: Ctx, address: string) {
  const { email, emailKey } = parseEmail("email", address);
  await requireNoUser(ctx, emailKey);
  const found = await requireKept(ctx, email, emailKey);
  const ids = found.own.map(({ id }) => String(id));
  const orders: object[] = [];
  for (let at = 0; at < ids.length; at += 100) {
    orders.push(...(await exportOrders(ctx, { ids: ids.slice(at, at + 100).join() })));
  }
  await recordAudit(ctx, { event: "user.exported" });
  const { withdrawals, mail } = found;
  return { email, orders, retention: await describeRetention(ctx), withdrawals, mail };
}

/** Erases an email address that no user has. Errors: as `exportGuest`; wrongState while an order is pending or paid. */
export function eraseGuest(ctx: Ctx, address: string): Promise<void> {
  const { email, emailKey } = parseEmail("email", address);
  return inTransaction(ctx, async (tx) => {
    await requireNoUser(tx, emailKey);
    const { own } = await requireKept(tx, email, emailKey);
    requireEnded(own, email);
    // Deletes stored replies with the ids of these orders, too.
    await eraseAddress(
      tx,
      emailKey,
      own,
      own.map(({ id }) => String(id)),
    );
    await recordAudit(tx, { event: "user.erased" });
  });
}

async function requireNoUser(ctx: Ctx, emailKey: string): Promise<void> {
  const user = await findSignInUser(ctx.db, ctx.tenant.id, emailKey);
  if (user) throw wrongState(`${user.email} is the address of a user. Name the user instead of --email.`);
}

async function requireKept(ctx: Ctx, email: string, emailKey: string) {
  const own = await listGuestOrders(ctx, emailKey);
  const address = await exportAddress(ctx, emailKey);
  if (own.length + address.withdrawals.length + address.mail.length > 0) return { own, ...address };
  throw notFound("guest", email, { remedy: "No guest order, withdrawal or mail has this address." });
}
