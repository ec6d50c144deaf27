import { sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../../context.ts";
import { all, bind, createPurge, param, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { discountUses } from "../../discounts/table.ts";
import { invoices } from "../../invoices/table.ts";
import { tenants } from "../../tenants/table.ts";
import { orderAttention } from "../attention/table.ts";
import { insertEvent } from "../statements.ts";
import { fulfillments, hasEnded, isUnpaidGuest, namesPerson, orderRefunds, orders } from "../table.ts";
import { withdrawals } from "../withdrawals/table.ts";

const ofGuest = sql`tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")} and user_id is null`;
// The indexes are named, because SQLite would otherwise read all orders of the store.
const selectGuestOrders = statement(sql`
  select id, number, status from ${orders} indexed by orders_by_email where ${ofGuest} order by +number`);
const selectUserOrders = statement(sql`
  select id, number, status from ${orders} indexed by orders_by_user
  where tenant_id = ${param("tenantId")} and user_id = ${param("userId")} order by +number`);
const assign = statement(sql`
  update ${orders} set user_id = ${param("userId")}, version = version + 1, updated_at = ${param("now")} where ${ofGuest}`);

/** Lists the orders with an email address that belong to no user. */
export function listGuestOrders(ctx: Pick<Ctx, "db" | "tenant">, emailKey: string) {
  return all(ctx.db, selectGuestOrders, { tenantId: ctx.tenant.id, emailKey });
}

export function listUserOrders(ctx: Pick<Ctx, "db" | "tenant">, userId: string) {
  return all(ctx.db, selectUserOrders, { tenantId: ctx.tenant.id, userId });
}

/** Assigns guest orders to the user who has verified the email address of these orders. */
export async function assignGuestOrders(tx: Ctx, user: { id: string; emailKey: string }): Promise<void> {
  const found = await listGuestOrders(tx, user.emailKey);
  if (found.length === 0) return;
  const values = { tenantId: tx.tenant.id, emailKey: user.emailKey, userId: user.id, now: toTimestamp(tx.now()) };
  const event = ({ id }: Record<string, unknown>) =>
    bind(insertEvent, { ...values, id: String(id), type: "order.updated", eventId: newId("evt") });
  await tx.db.batch([bind(assign, values), ...found.map(event)]);
}

const listed = sql`(select value from json_each(${param("ids")}))`;
const ofOrders = sql`order_id in ${listed}`;
const erasures = [
  sql`update ${orderRefunds} set reason = null where reason is not null and ${ofOrders}`,
  sql`update ${orderAttention} set note = null where note is not null and ${ofOrders}`,
  sql`update ${fulfillments} set tracking = null where tracking is not null and ${ofOrders}`,
  sql`update ${discountUses} set email_key = null where ${ofOrders}`,
  sql`update ${withdrawals} set email = '', email_key = '', name = '', text = null where ${ofOrders}`,
  sql`update ${invoices} set html = null where ${param("isOld")} and ${ofOrders}`,
].map((erasure) => statement(erasure));
// Tax law requires the name and address of a paid order for years after `updated_at`. Until then, an erasure does not
// change `updated_at` of a paid order.
const isInvoice = sql`(not ${param("isOld")} and paid_at is not null)`;
const withoutPhone = (column: string) => sql`iif(${isInvoice}, json_remove(${sql.raw(column)}, '$.phone'), null)`;
// Access tokens are valid for some time after `updated_at`. An erasure may renew that time, so it ends the tokens.
const erasePerson = statement(sql`
  update ${orders} set user_id = iif(${param("isOld")}, user_id, null), buyer = null, email = null, email_key = null,
    phone = null, shipping_address = ${withoutPhone("shipping_address")},
    billing_address = ${withoutPhone("billing_address")}, note = null, staff_note = null, metadata = '{}',
    access_version = access_version + 1, version = version + 1, updated_at = iif(${isInvoice}, updated_at, ${param("now")})
  where id in ${listed}`);

/**
 * Removes personal data from orders; numbers, items and amounts stay. Orders that were paid keep name and addresses,
 * unless `isOld` says that tax law no longer requires them.
 */
export async function eraseFromOrders(tx: Pick<Ctx, "db" | "now">, ids: string[], isOld = false): Promise<void> {
  const values = { ids: JSON.stringify(ids), isOld: isOld ? 1 : 0, now: toTimestamp(tx.now()) };
  await tx.db.batch([...erasures, erasePerson].map((erasure) => bind(erasure, values)));
}

const unpaidKeptMs = 30 * 86_400_000;
const selectUnpaid = statement(sql`
  select id from ${orders} indexed by orders_unpaid_guests
  where ${isUnpaidGuest} and ${namesPerson} and updated_at <= ${param("before")} order by updated_at limit 200`);
// Tax law requires the store to keep orders and invoices for `keep_invoices` years. These begin after the year of the
// last change or invoice.
const selectKept = statement(sql`
  select id from (
    select t.id as tenant, printf('%04d', ${param("year")} - t.keep_invoices) as year from ${tenants} t
  ) join ${orders} indexed by orders_with_persons on tenant_id = tenant
  where ${hasEnded} and ${namesPerson} and updated_at < year
    and not exists (select 1 from ${invoices} i where i.order_id = ${orders.id} and i.issued_at >= year) limit 200`);

/** Erases personal data in old unpaid orders of guests, and in orders for which tax law no longer requires it. */
export async function purgePersons(ctx: WorkCtx): Promise<number> {
  if ((await findOld(ctx)).length === 0) return 0;
  return inTransaction(ctx, async (tx) => {
    const ids = await findOld(tx);
    await eraseFromOrders(tx, ids, true);
    return ids.length;
  });
}

async function findOld({ db, now }: WorkCtx): Promise<string[]> {
  const unpaid = await all(db, selectUnpaid, { before: toTimestamp(now() - unpaidKeptMs) });
  const old = await all(db, selectKept, { year: new Date(now()).getUTCFullYear() });
  return [...unpaid, ...old].map(({ id }) => String(id));
}

/** Purges withdrawals that match no order and are older than a year. */
export const purgeWithdrawals = createPurge(
  withdrawals,
  sql`order_id is null and created_at <= ${param("before")}`,
  365 * 86_400_000,
);
