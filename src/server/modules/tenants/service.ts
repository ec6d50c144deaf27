import { eq, sql } from "drizzle-orm";
import type { Ctx, SystemCtx, Tenant, WorkCtx } from "../../context.ts";
import { isUniqueViolation } from "../../db/db-errors.ts";
import { jsonOf, pickStored } from "../../db/selection.ts";
import type { Session } from "../../db/session.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, conflict, storeNotFound, wrongState } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { maxCompared, unknownName } from "../../values/unknown-name.ts";
import { type AuditEvent, recordAudit } from "../audit/service.ts";
import { products } from "../catalogue/products/table.ts";
import { changeTypes, type TypeChanges } from "../resources/registry.ts";
import { resourceTypes } from "../resources/table.ts";
import { parseNamespace, readFields, showPointValue, type TenantInput } from "./input.ts";
import type { Store } from "./model.ts";
import { tenants, workFields } from "./table.ts";

const { namespace } = tenants;
const store = pickStored(tenants, "namespace", "title", "domain", "url", "currency", "currencySign", "logo");
const shown = {
  ...store,
  ...pickStored(tenants, "status", "createdAt", "language", "tokenLifetime", "pointsRate", "pointValue", "pointsDays"),
  ...pickStored(tenants, "addressWrites", "visitorWrites", "pendingOrders", "stockShare", "ordersPerMinute"),
  ...pickStored(tenants, "mediaQuota", "country", "timezone", "pricesIncludeTax", "hold", "transferHold"),
  ...pickStored(tenants, "longHoldShare", "transferInstructions", "orderUrl", "lowStockAt", "taxNote", "keepInvoices"),
  ...pickStored(tenants, "invoiceFrom"),
  ...{ notify: jsonOf<string[]>(tenants.notify), mails_off: jsonOf<string[]>(tenants.mailsOff) },
  legal_urls: jsonOf<Record<string, string>>(tenants.legalUrls),
  ...pickStored(tenants, "signUp", "signInByMail", "updatedAt"),
  resource_types: jsonOf<string[]>(sql`(select json_group_array(name) from (
    select name from ${resourceTypes} r where r.tenant_id = ${tenants}.id order by name))`),
};

const selectTenants = statement((q) => q.select(shown).from(tenants).orderBy(namespace));
type TenantRow = NonNullable<(typeof selectTenants)["row"]>;
export type TenantDetails = ReturnType<typeof toDetails>;
export type TenantRecord = ReturnType<typeof toRecord>;

function toDetails(row: TenantRow) {
  const { points_rate, point_value, currency } = row;
  return { ...row, points_rate: toAmount(points_rate, 3), point_value: showPointValue(point_value, currency) };
}

function toRecord(details: TenantDetails) {
  const { namespace, title, domain, url, currency, currency_sign, logo, status, created_at } = details;
  return { namespace, title, domain, url, currency, currency_sign, logo, status, created_at };
}

const byNamespace = eq(tenants.namespace, param("namespace"));
const selectTenant = statement((q) => q.select(shown).from(tenants).where(byNamespace));
const selectForWork = statement((q) => q.select(workFields).from(tenants).where(byNamespace));
const selectNamespaces = statement((q) =>
  q.select({ namespace }).from(tenants).orderBy(namespace).limit(sql.placeholder("most")),
);
const mayChange = sql`${byNamespace} and (${tenants.currency} = ${param("currency")}
  or not exists (select 1 from ${products} p where p.tenant_id = ${tenants.id} and p.deleted_at is null))`;
const newStatus = { status: param("status"), updatedAt: param("now") };
const changeStatus = statement((q) => q.update(tenants).set(newStatus).where(byNamespace));
// Long translations are left out, because parsing them takes milliseconds.
const newest = sql`select lang, case when octet_length(translations) > 65536 then '{}' else translations end as texts
  from ${products} where tenant_id = ${param("id")} and status = 'published' and deleted_at is null
  order by created_at desc, id desc limit 50`;
const languages = sql`(with newest as materialized (${newest}) select json_group_array(tag) from (
  select tenants.language as tag union select lang from newest union select key from newest, json_each(texts)))`;
const json = sql<string>`json_object('namespace', namespace, 'title', title, 'domain', domain, 'url', url,
  'currency', currency, 'currency_sign', currency_sign, 'logo', logo, 'language', language, 'languages', ${languages},
  'country', country, 'prices_include_tax', json(iif(prices_include_tax = 'yes', 'true', 'false')),
  'tax_note', tax_note, 'legal_urls', json(legal_urls), 'order_url', order_url,
  'transfer_instructions', transfer_instructions, 'hold', hold, 'transfer_hold', transfer_hold,
  'has_shipping_rates', json(iif(exists (select 1 from shipping_rates where tenant_id = tenants.id), 'true', 'false')),
  'payment_methods', json(iif(exists (select 1 from payment_accounts where tenant_id = tenants.id), '["manual","stripe"]',
    '["manual"]')), 'sign_up', sign_up, 'sign_in_by_mail', json(iif(sign_in_by_mail = 'on', 'true', 'false')))`;
const isStore = eq(tenants.id, param("id"));
const selectStore = statement((q) => q.select(store).from(tenants).where(isStore));
const selectProfile = statement((q) => q.select({ json }).from(tenants).where(isStore));
const removeTenant = statement((q) => q.delete(tenants).where(byNamespace));

/** Creates a store. Defaults: its namespace as title, EUR, and language `en`. Errors: conflict, validationFailed. */
export async function createTenant(ctx: SystemCtx, input: TenantInput & { namespace: string }): Promise<TenantRecord> {
  const namespace = parseNamespace(input.namespace);
  const { title = namespace, language = "en", currency = "EUR", pricesIncludeTax = "yes" } = input;
  const given = readFields({ ...input, title, language, currency, pricesIncludeTax }, { currency, legal_urls: {} });
  return inTransaction(ctx, async (tx) => {
    try {
      const now = toTimestamp(ctx.now());
      const currencySign = given.currencySign as string;
      const row = { ...given, currencySign, id: newId("tnt"), namespace, createdAt: now, updatedAt: now };
      const insert = statement((q) => q.insert(tenants).values(row));
      await run(tx.db, insert);
    } catch (error) {
      if (!isUniqueViolation(error, "tenants.namespace")) throw error;
      const remedy = `Choose another namespace, or show the store: bodega tenant show ${namespace}`;
      throw conflict(`Store "${namespace}" already exists.`, { cause: error, remedy });
    }
    await recordAudit(tx, { event: "tenant.created", namespace });
    return toRecord(await getTenant(tx, namespace));
  });
}

export async function listTenants(
  ctx: SystemCtx,
  { status, q }: { status?: TenantRecord["status"] | undefined; q?: string | undefined } = {},
) {
  const rows = (await all(ctx.db, selectTenants)).filter((row) => status === undefined || row.status === status);
  const part = q?.toLowerCase() ?? "";
  const holds = (text: string | null) => text?.toLowerCase().includes(part) ?? false;
  return rows.filter(({ namespace, title, domain }) => [namespace, title, domain].some(holds)).map(toDetails);
}

export async function hasTenants(db: Session): Promise<boolean> {
  return (await all(db, selectNamespaces, { most: 1 })).length > 0;
}

export async function onlyNamespace(db: Session): Promise<string | undefined> {
  const [only, other] = await all(db, selectNamespaces, { most: 2 });
  return other === undefined ? only?.namespace : undefined;
}

export async function getTenant(ctx: SystemCtx, namespace: string) {
  const row = await get(ctx.db, selectTenant, { namespace });
  if (!row) throw await noSuchTenant(ctx, namespace);
  return toDetails(row);
}

export async function getStore({ db, tenant }: Ctx): Promise<Store> {
  const row = await get(db, selectStore, { id: tenant.id });
  if (!row) throw storeNotFound();
  return row;
}

/** Returns the store as front ends see it; `state` equals `json`. Errors: storeNotFound if it was just deleted. */
export async function readStoreProfile({ db, tenant }: Ctx): Promise<{ json: string; state: string }> {
  const row = await get(db, selectProfile, { id: tenant.id });
  if (!row) throw storeNotFound();
  return { json: row.json, state: row.json };
}

export async function requireTenant(ctx: SystemCtx, namespace: string) {
  const tenant = await get(ctx.db, selectForWork, { namespace });
  if (!tenant) throw await noSuchTenant(ctx, namespace);
  return tenant;
}

/** Updates a store; `null` clears a field. Errors: notFound, validationFailed, wrongState; those of `changeTypes`. */
export async function updateTenant(
  ctx: SystemCtx,
  namespace: string,
  { types, ...patch }: TenantInput & { types?: TypeChanges },
) {
  return inTransaction(ctx, async (tx) => {
    const before = await getTenant(tx, namespace);
    const given = readFields(patch, before);
    const changes = { ...given, updatedAt: toTimestamp(ctx.now()) };
    const change = statement((q) => q.update(tenants).set(changes).where(mayChange));
    const changed = await run(tx.db, change, { namespace, currency: given.currency ?? before.currency });
    if (changed === 0) {
      throw wrongState(`Store "${namespace}" has products, so its currency cannot change. Delete them first.`);
    }
    if (types) await changeTypes(tx, namespace, types);
    const after = await getTenant(tx, namespace);
    // The audit entry omits the values, which may be confidential.
    const fields = (Object.keys(after) as (keyof TenantDetails)[]).filter(
      (name) => name !== "updated_at" && !Bun.deepEquals(before[name], after[name]),
    );
    await recordAudit(tx, { event: "tenant.updated", namespace, details: { fields } });
    return after;
  });
}

/** Suspends a store: every request fails with storeNotFound until it is resumed. Nothing is deleted. */
export const suspendTenant = changeOf("suspended", "tenant.suspended");
export const resumeTenant = changeOf("active", "tenant.resumed");

export function deleteTenant(ctx: SystemCtx, namespace: string): Promise<TenantRecord> {
  return inTransaction(ctx, async (tx) => {
    const tenant = await getTenant(tx, namespace);
    await run(tx.db, removeTenant, { namespace });
    await recordAudit(tx, { event: "tenant.deleted", namespace });
    return toRecord(tenant);
  });
}

function changeOf(status: TenantRecord["status"], event: AuditEvent) {
  return (ctx: SystemCtx, namespace: string): Promise<TenantRecord> =>
    inTransaction(ctx, async (tx) => {
      const changed = await run(tx.db, changeStatus, { namespace, status, now: toTimestamp(ctx.now()) });
      if (changed === 0) throw await noSuchTenant(tx, namespace);
      await recordAudit(tx, { event, namespace });
      return toRecord(await getTenant(tx, namespace));
    });
}

async function noSuchTenant(ctx: SystemCtx, namespace: string): Promise<AppError> {
  const rows = await all(ctx.db, selectNamespaces, { most: maxCompared });
  const names = rows.map((row) => row.namespace);
  return unknownName("store", namespace, names);
}

/**
 * Runs `work` for each row, and returns how many calls returned true. A failing row does not stop the others.
 * @throws unavailable at once; the first error of a row if no row succeeded.
 */
export async function workThrough<Row extends { tenant: string }, C extends WorkCtx>(
  ctx: C,
  rows: readonly Row[],
  work: (ctx: C & { tenant: Tenant }, row: Row) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  let failure: unknown;
  for (const row of rows) {
    try {
      if (await work({ ...ctx, tenant: JSON.parse(row.tenant) as Tenant }, row)) done += 1;
    } catch (error) {
      if (error instanceof AppError && error.kind === "unavailable") throw error;
      failure ??= error;
    }
  }
  if (done === 0 && failure !== undefined) throw failure;
  return done;
}
