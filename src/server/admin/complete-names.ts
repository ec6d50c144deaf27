import { and, eq, gte, lt, type SQLWrapper, sql } from "drizzle-orm";
import type { Session } from "../db/session.ts";
import { all, get, param, statement } from "../db/statement.ts";
import { appKeys } from "../modules/app-keys/table.ts";
import { auditEvents } from "../modules/audit/service.ts";
import { categories } from "../modules/catalogue/categories/table.ts";
import { products, productVariants } from "../modules/catalogue/products/table.ts";
import { orders } from "../modules/orders/table.ts";
import { onlyNamespace } from "../modules/tenants/service.ts";
import { tenants } from "../modules/tenants/table.ts";
import { users } from "../modules/users/table.ts";
import { webhooks } from "../modules/webhooks/table.ts";
import { knownScopes } from "../security/scopes.ts";

export type OfferedName = ReturnType<typeof offerName>;
type Row = Record<"id" | "name" | "description", string>;

/** A word without characters that a shell interprets. */
const literalWord = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+:/-]*$/u;

/** Selects up to a hundred rows whose column begins with a prefix. Without a store, ids of all stores match. */
const rowsOf = (table: SQLWrapper, column: string, { about = "title", where = "deleted_at is null" } = {}) =>
  statement<Row>(sql`
    select id, ${sql.raw(column)} as name, ${sql.raw(about)} as description from ${table}
    where tenant_id = ${column === "id" ? sql`coalesce(${param("tenantId")}, tenant_id)` : param("tenantId")}
      and ${sql.raw(column)} >= ${param("prefix")} and ${sql.raw(column)} < ${param("prefixEnd")} and ${sql.raw(where)}
    order by ${sql.raw(column === "id" ? "id desc" : column)} limit 100`);
const { id, namespace: name, title: description } = tenants;
const isInRange = and(gte(name, param("prefix")), lt(name, param("prefixEnd")));
const selectNamespaces = statement((q) =>
  q.select({ id, name, description }).from(tenants).where(isInRange).orderBy(name).limit(100),
);
const isStore = eq(name, param("namespace"));
const selectTenantId = statement((q) => q.select({ id }).from(tenants).where(isStore));
const orderNumbers = sql`(select id, tenant_id, status, cast(number as text) as number from ${orders}
  where tenant_id = ${param("tenantId")} order by number desc limit 1000)`;

const kindOf = (id: string, table: SQLWrapper, columns: string[], options?: Parameters<typeof rowsOf>[2]) => ({
  id,
  ids: rowsOf(table, "id", options),
  names: columns.map((column) => rowsOf(table, column, options)),
});
const ordersBy = { about: "status", where: "true" };
const product = kindOf("prod_", products, ["slug", "sku"]);
/** By kind: the prefix of its ids, and statements that find ids and names. Stores can share names, but not ids. */
const kinds: Record<string, ReturnType<typeof kindOf>> = {
  key: kindOf("app_", appKeys, ["name"], { about: "name", where: "revoked_at is null" }),
  user: kindOf("usr_", users, ["email_key"], { about: "role", where: "true" }),
  order: { ...kindOf("ord_", orders, [], ordersBy), names: [rowsOf(orderNumbers, "number", ordersBy)] },
  product: { ...product, names: [...product.names, rowsOf(productVariants, "sku")] },
  category: kindOf("cat_", categories, ["slug"], { where: "true" }),
  webhook: kindOf("whk_", webhooks, ["url"], { about: "url", where: "true" }),
};

/**
 * Returns names of a kind that begin with a prefix, or ids if the prefix begins like an id. Names that are not
 * unique, or have characters that a shell interprets, are omitted. With an empty prefix, returns their ids instead.
 * @param namespace the store of the command line. By default, this is the only store. Without a store, only ids of keys
 * are returned. For an unknown kind or store, nothing is returned.
 */
export async function completeNames(
  db: Session,
  { kind, prefix, namespace }: { kind: string; prefix: string; namespace: string | undefined },
): Promise<OfferedName[]> {
  if (kind === "scope") return offerWords(knownScopes, prefix);
  if (kind === "event") return offerWords(auditEvents, prefix);
  // `prefixEnd` is the prefix plus the highest character. All words with this prefix sort before it.
  const rangeOf = (text: string) => ({ prefix: text, prefixEnd: `${text}\u{10ffff}` });
  if (kind === "namespace") return (await all(db, selectNamespaces, rangeOf(prefix))).map(offerName);
  const found = kinds[kind];
  if (found === undefined) return [];
  const store = namespace ?? (await onlyNamespace(db));
  const tenantId = store && (await get(db, selectTenantId, { namespace: store }))?.id;
  const isId = prefix.startsWith(found.id);
  if (!tenantId && (kind !== "key" || namespace !== undefined || !isId)) return [];
  const range = rangeOf(kind === "user" ? prefix.toLowerCase() : prefix);
  const statements = isId ? [found.ids] : found.names;
  const values = { ...range, tenantId: tenantId ?? null };
  const rows = (await Promise.all(statements.map((one) => all(db, one, values)))).flat();
  const isClear = ({ id, name }: Row) =>
    literalWord.test(name) && rows.every((other) => other.name !== name || other.id === id);
  const unclear = rows.filter((row) => prefix === "" && row.id.startsWith(found.id) && !isClear(row));
  const byId = unclear.map((row) => ({ ...row, description: row.name, name: row.id }));
  return [...rows.filter(isClear), ...byId].map(offerName);
}

const offerName = ({ name, description }: Row) => ({ value: name, description });

function offerWords(words: readonly string[], prefix: string): OfferedName[] {
  return words.filter((word) => word.startsWith(prefix)).map((value) => ({ value, description: "" }));
}
