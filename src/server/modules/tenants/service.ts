import { eq, sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { build } from "../../db/build.ts";
import { isUniqueViolation } from "../../db/db-errors.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, conflict, wrongState } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { maxCompared, unknownName } from "../../values/unknown-name.ts";
import { recordAudit } from "../audit/service.ts";
import { products } from "../products/table.ts";
import { currencySign, parseCurrency } from "./currency.ts";
import { checkFields, parsePointsRate, parsePointValue, type TenantInput } from "./input.ts";
import { parseNamespace } from "./namespace.ts";
import { changedFields, shown, type TenantDetails, type TenantRecord, toDetails, toRecord } from "./record.ts";
import { tenants } from "./table.ts";

/** 30 days, in seconds (specification, section 8). */
const defaultTokenLifetime = 30 * 86_400;
/** A minute; a household, an office or a school shares an address. */
const defaultAddressWrites = 1200;
/** A minute; more than a person clicks. */
const defaultVisitorWrites = 240;

const byNamespace = eq(tenants.namespace, param("namespace"));
const insertTenant = statement(
  build.insert(tenants).values({
    id: param("id"),
    namespace: param("namespace"),
    title: param("title"),
    domain: param("domain"),
    url: param("url"),
    currency: param("currency"),
    currencySign: param("currencySign"),
    logo: param("logo"),
    language: param("language"),
    tokenLifetime: param("tokenLifetime"),
    pointsRate: param("pointsRate"),
    pointValue: param("pointValue"),
    pointsDays: param("pointsDays"),
    addressWrites: param("addressWrites"),
    visitorWrites: param("visitorWrites"),
    status: "active",
    createdAt: param("now"),
    updatedAt: param("now"),
  }),
);
const selectTenant = statement<TenantDetails>(build.select(shown).from(tenants).where(byNamespace));
const selectForWork = statement<Tenant>(sql`
  select id, namespace, title, currency, language, token_lifetime as tokenLifetime,
    points_rate as pointsRate, point_value as pointValue, points_days as pointsDays,
    address_writes as addressWrites, visitor_writes as visitorWrites from ${tenants} where ${byNamespace}`);
const selectNamespaces = statement<{ namespace: string }>(sql`
  select namespace from ${tenants} order by namespace limit ${param("most")}`);
const selectTenants = statement<TenantDetails>(build.select(shown).from(tenants).orderBy(tenants.namespace));
const changeTenant = statement(sql`
  update ${tenants} set title = ${param("title")}, domain = ${param("domain")},
    url = ${param("url")}, currency = ${param("currency")},
    currency_sign = ${param("currencySign")}, logo = ${param("logo")},
    language = ${param("language")}, token_lifetime = ${param("tokenLifetime")},
    points_rate = coalesce(${param("pointsRate")}, points_rate),
    point_value = coalesce(${param("pointValue")}, point_value), points_days = ${param("pointsDays")},
    address_writes = ${param("addressWrites")}, visitor_writes = ${param("visitorWrites")},
    updated_at = ${param("now")}
  where ${byNamespace} and (currency = ${param("currency")}
    or not exists (select 1 from ${products} p where p.tenant_id = ${tenants.id} and p.deleted_at is null))`);
const changeStatus = statement(sql`
  update ${tenants} set status = ${param("status")}, updated_at = ${param("now")}
  where ${byNamespace}`);
const removeTenant = statement(build.delete(tenants).where(byNamespace));

/**
 * Creates a tenant. By default its title is the namespace, its currency EUR, its language `en` and the lifetime of
 * tokens 30 days.
 * @throws conflict for a taken namespace, validationFailed for an invalid field.
 */
export async function createTenant(ctx: SystemCtx, input: TenantInput & { namespace: string }): Promise<TenantRecord> {
  const namespace = parseNamespace(input.namespace);
  const currency = parseCurrency(input.currency ?? "EUR");
  const fields = checkFields({ ...input, title: input.title ?? namespace, currency });
  const pointsRate = parsePointsRate(fields.pointsRate ?? 1);
  const pointValue = fields.pointValue === undefined ? 1 : parsePointValue(fields.pointValue, currency);
  return inTransaction(ctx, async (tx) => {
    try {
      await run(tx.db, insertTenant, {
        id: newId("tnt"),
        namespace,
        title: fields.title,
        domain: fields.domain ?? null,
        url: fields.url ?? null,
        currency,
        currencySign: fields.currencySign ?? currencySign(currency),
        logo: fields.logo ?? null,
        language: fields.language ?? "en",
        tokenLifetime: fields.tokenLifetime ?? defaultTokenLifetime,
        pointsRate,
        pointValue,
        pointsDays: fields.pointsDays ?? null,
        addressWrites: fields.addressWrites ?? defaultAddressWrites,
        visitorWrites: fields.visitorWrites ?? defaultVisitorWrites,
        now: toTimestamp(ctx.now()),
      });
    } catch (error) {
      if (!isUniqueViolation(error, "tenants.namespace")) throw error;
      throw conflict(`Store "${namespace}" already exists.`, { cause: error });
    }
    await recordAudit(tx, { event: "tenant.created", namespace });
    return toRecord(await getTenant(tx, namespace));
  });
}

/** The tenants that match, by name; `q` is a part of namespace, title or domain, ignoring case. */
export async function listTenants(
  ctx: SystemCtx,
  { status, q }: { status?: TenantRecord["status"] | undefined; q?: string | undefined } = {},
): Promise<TenantDetails[]> {
  const rows = (await all(ctx.db, selectTenants)).filter((row) => status === undefined || row.status === status);
  const part = q?.toLowerCase() ?? "";
  const holds = (text: string | null) => text?.toLowerCase().includes(part) ?? false;
  return rows.filter(({ namespace, title, domain }) => [namespace, title, domain].some(holds)).map(toDetails);
}

/**
 * One tenant by name.
 * @throws notFound.
 */
export async function getTenant(ctx: SystemCtx, namespace: string): Promise<TenantDetails> {
  const tenant = await get(ctx.db, selectTenant, { namespace });
  if (!tenant) throw await noSuchTenant(ctx, namespace);
  return toDetails(tenant);
}

/**
 * A tenant for a context.
 * @throws notFound.
 */
export async function requireTenant(ctx: SystemCtx, namespace: string): Promise<Tenant> {
  const tenant = await get(ctx.db, selectForWork, { namespace });
  if (!tenant) throw await noSuchTenant(ctx, namespace);
  return tenant;
}

/**
 * Changes the given fields; `null` clears one.
 * @throws notFound, validationFailed for an invalid field, wrongState for another currency while there are products,
 * whose prices could not be compared.
 */
export async function updateTenant(ctx: SystemCtx, namespace: string, patch: TenantInput): Promise<TenantRecord> {
  const fields = checkFields(patch);
  const currency = fields.currency === undefined ? undefined : parseCurrency(fields.currency);
  const pointsRate = fields.pointsRate === undefined ? null : parsePointsRate(fields.pointsRate);
  const { pointValue } = fields;
  return inTransaction(ctx, async (tx) => {
    const before = await getTenant(tx, namespace);
    const changed = await run(tx.db, changeTenant, {
      namespace,
      title: fields.title ?? before.title,
      domain: fields.domain === undefined ? before.domain : fields.domain,
      url: fields.url === undefined ? before.url : fields.url,
      currency: currency ?? before.currency,
      currencySign: fields.currencySign ?? (currency ? currencySign(currency) : before.currency_sign),
      logo: fields.logo === undefined ? before.logo : fields.logo,
      language: fields.language ?? before.language,
      tokenLifetime: fields.tokenLifetime ?? before.token_lifetime,
      pointsRate,
      pointValue: newPointValue(pointValue, currency ?? before.currency, before.currency),
      pointsDays: fields.pointsDays === undefined ? before.points_days : fields.pointsDays,
      addressWrites: fields.addressWrites ?? before.address_writes,
      visitorWrites: fields.visitorWrites ?? before.visitor_writes,
      now: toTimestamp(ctx.now()),
    });
    if (changed === 0) {
      throw wrongState(`The currency of ${namespace} cannot change while it has products priced in another.`);
    }
    const after = await getTenant(tx, namespace);
    await recordAudit(tx, { event: "tenant.updated", namespace, details: { fields: changedFields(before, after) } });
    return toRecord(after);
  });
}

/** Suspends a store: every request is answered with storeNotFound until it is resumed. Nothing is deleted. */
export function suspendTenant(ctx: SystemCtx, namespace: string): Promise<TenantRecord> {
  return setStatus(ctx, namespace, "suspended");
}

/** Resumes a suspended store. */
export function resumeTenant(ctx: SystemCtx, namespace: string): Promise<TenantRecord> {
  return setStatus(ctx, namespace, "active");
}

/**
 * Deletes a tenant and all of its rows for good.
 * @returns the deleted tenant.
 */
export function deleteTenant(ctx: SystemCtx, namespace: string): Promise<TenantRecord> {
  return inTransaction(ctx, async (tx) => {
    const tenant = await getTenant(tx, namespace);
    await run(tx.db, removeTenant, { namespace });
    await recordAudit(tx, { event: "tenant.deleted", namespace });
    return toRecord(tenant);
  });
}

function setStatus(ctx: SystemCtx, namespace: string, status: TenantRecord["status"]): Promise<TenantRecord> {
  return inTransaction(ctx, async (tx) => {
    const changed = await run(tx.db, changeStatus, { namespace, status, now: toTimestamp(ctx.now()) });
    if (changed === 0) throw await noSuchTenant(tx, namespace);
    await recordAudit(tx, { event: status === "active" ? "tenant.resumed" : "tenant.suspended", namespace });
    return toRecord(await getTenant(tx, namespace));
  });
}

/** The error about an unknown namespace, with the most similar one. */
export async function noSuchTenant(ctx: SystemCtx, namespace: string): Promise<AppError> {
  const rows = await all(ctx.db, selectNamespaces, { most: maxCompared });
  return unknownName("tenant", namespace, {
    names: rows.map((row) => row.namespace),
    list: "bodega tenant list",
  });
}

/**
 * The value of a point after a change; null for unchanged. In another currency the old number would mean something
 * else.
 */
function newPointValue(given: number | undefined, currency: string, before: string): number | null {
  if (given !== undefined) return parsePointValue(given, currency);
  return currency === before ? null : 1;
}
