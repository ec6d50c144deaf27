import { type SQLWrapper, sql } from "drizzle-orm";
import type { Session } from "../db/session.ts";
import { all, type CompiledStatement, get, param, statement } from "../db/statement.ts";
import { appKeys } from "../modules/app-keys/table.ts";
import { auditEvents } from "../modules/audit/service.ts";
import { categories } from "../modules/categories/table.ts";
import { orders } from "../modules/orders/table.ts";
import { products, productVariants } from "../modules/products/table.ts";
import { onlyNamespace } from "../modules/tenants/service.ts";
import { tenants } from "../modules/tenants/table.ts";
import { nameKey } from "../modules/users/input.ts";
import { users } from "../modules/users/table.ts";
import { webhooks } from "../modules/webhooks/table.ts";
import { knownScopes } from "../security/scopes.ts";

/** A name for shell completion, with a short description. */
export interface OfferedName {
  value: string;
  description: string;
}

const maxOffered = 100;

const begins = (column: string) =>
  sql`${sql.raw(column)} >= ${param("prefix")} and ${sql.raw(column)} < ${param("prefixEnd")}`;
const first = sql`limit ${param("most")}`;
const ofTenant = sql`tenant_id = ${param("tenantId")}`;

/** Selects the values of a column, the newest ids first. */
const valuesOf = (table: SQLWrapper, column: string, description: string, condition = sql`true`) =>
  statement<OfferedName>(sql`
    select ${sql.raw(column)} as value, ${sql.raw(description)} as description from ${table}
    where ${ofTenant} and ${begins(column)} and ${condition}
    order by ${sql.raw(column === "id" ? "id desc" : column)} ${first}`);

const selectTenantId = statement<{ id: string }>(
  sql`select id from ${tenants} where namespace = ${param("namespace")}`,
);
const selectNamespaces = statement<OfferedName>(sql`
  select namespace as value, title as description from ${tenants} where ${begins("namespace")} order by 1 ${first}`);
const selectKeyIds = statement<OfferedName>(sql`
  select k.id as value, k.name || ' (' || t.namespace || ')' as description
  from ${appKeys} k join ${tenants} t on t.id = k.tenant_id
  where ${begins("k.id")} and k.revoked_at is null and (${param("tenantId")} is null or k.tenant_id = ${param("tenantId")})
  order by k.id desc ${first}`);
const selectKeyNames = statement<OfferedName>(sql`
  select name as value, min(id) as description from ${appKeys}
  where ${ofTenant} and ${begins("name")} and revoked_at is null
  group by name having count(*) = 1 order by 1 ${first}`);
const selectUserIds = valuesOf(users, "id", "email");
const selectEmails = statement<OfferedName>(sql`
  select email as value, role || coalesce(', ' || name, '') as description from ${users}
  where ${ofTenant} and ${begins("email_key")} order by email_key ${first}`);
const selectOrderIds = valuesOf(orders, "id", "number || ', ' || status");
const selectOrderNumbers = statement<OfferedName>(sql`
  select cast(number as text) as value, status || ', ' || substr(created_at, 1, 10) as description from (
    select number, status, created_at from ${orders} where ${ofTenant} order by number desc limit 1000)
  where substr(number, 1, length(${param("prefix")})) = ${param("prefix")} ${first}`);
const selectProductIds = valuesOf(products, "id", "title", sql`deleted_at is null`);
const selectSlugs = valuesOf(products, "slug", "title", sql`deleted_at is null`);
const selectSkus = valuesOf(products, "sku", "title", sql`deleted_at is null and not has_variants`);
const selectVariantSkus = valuesOf(productVariants, "sku", "title", sql`deleted_at is null`);
const selectCategoryIds = valuesOf(categories, "id", "title");
const selectCategorySlugs = valuesOf(categories, "slug", "title");
const selectWebhookIds = valuesOf(webhooks, "id", "url");
const selectUrls = statement<OfferedName>(sql`
  select url as value, min(id) as description from ${webhooks} where ${ofTenant} and ${begins("url")}
  group by url having count(*) = 1 order by 1 ${first}`);

type Names = CompiledStatement<OfferedName>;

interface Kind {
  /** The prefix of its ids. */
  id: string;
  ids: Names;
  /** Other names within a store. */
  names: Names[];
  /** Whether some have no unique name that can be typed; names are then described by ids. */
  hasNameless?: boolean;
  toPrefix?: (text: string) => string;
}

const kinds: Record<string, Kind> = {
  key: { id: "app_", ids: selectKeyIds, names: [selectKeyNames], hasNameless: true },
  user: { id: "usr_", ids: selectUserIds, names: [selectEmails], toPrefix: nameKey },
  order: { id: "ord_", ids: selectOrderIds, names: [selectOrderNumbers] },
  product: { id: "prod_", ids: selectProductIds, names: [selectSlugs, selectSkus, selectVariantSkus] },
  category: { id: "cat_", ids: selectCategoryIds, names: [selectCategorySlugs] },
  webhook: { id: "whk_", ids: selectWebhookIds, names: [selectUrls], hasNameless: true },
};

/**
 * The names of a kind that begin with a prefix, at most a hundred of each sort. Ids are included when the prefix begins
 * like an id, or when there is no other name. All but namespaces and key ids are looked up in one store. An unknown
 * kind or store has none.
 * @param namespace of the store; undefined where the command line has none: names are then of the only store.
 */
export async function completeNames(
  db: Session,
  { kind, prefix, namespace }: { kind: string; prefix: string; namespace: string | undefined },
): Promise<OfferedName[]> {
  if (kind === "scope") return offerWords(knownScopes, prefix);
  if (kind === "event") return offerWords(auditEvents, prefix);
  if (kind === "namespace") return all(db, selectNamespaces, rangeOf(prefix));
  const found = kinds[kind];
  if (found === undefined) return [];
  const store = namespace ?? (await onlyNamespace(db));
  const tenantId = store && (await get(db, selectTenantId, { namespace: store }))?.id;
  if (!tenantId) {
    const isChosen = kind === "key" && namespace === undefined && found.id.startsWith(prefix.slice(0, found.id.length));
    return isChosen ? all(db, found.ids, { ...rangeOf(prefix), tenantId: null }) : [];
  }
  const statements = prefix.startsWith(found.id) ? [found.ids] : found.names;
  const values = { ...rangeOf(found.toPrefix?.(prefix) ?? prefix), tenantId };
  const lists = await Promise.all(statements.map((names) => all(db, names, values)));
  // Words that a shell reads literally, so that nothing in them is executed.
  const named = lists.flat().filter(({ value }) => /^[\p{L}\p{N}_][\p{L}\p{N}_.@+:/-]*$/u.test(value));
  if (!found.hasNameless || prefix !== "") return named;
  const covered = new Set(named.map(({ description }) => description));
  const ids = await all(db, found.ids, { ...rangeOf(found.id), tenantId });
  return [...named, ...ids.filter(({ value }) => !covered.has(value))];
}

function rangeOf(prefix: string) {
  // The highest character: all words with the prefix sort before it.
  return { prefix, prefixEnd: `${prefix}\u{10ffff}`, most: maxOffered };
}

function offerWords(words: readonly string[], prefix: string): OfferedName[] {
  return words.filter((word) => word.startsWith(prefix)).map((value) => ({ value, description: "" }));
}
