import { sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../context.ts";
import { all, get, param, statement } from "../../db/statement.ts";
import { invalidField, notFound } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import { ambiguousName, maxCompared, suggestWord, unknownName } from "../../values/unknown-name.ts";
import { categories } from "../categories/table.ts";
import type { ProductColumns } from "./input.ts";
import { unknownCategory } from "./product-errors.ts";
import { isSlug } from "./slug.ts";
import type { StockItem } from "./stock.ts";
import { products, productVariants } from "./table.ts";

const selectById = statement<{ id: string }>(sql`
  select id from ${products}
  where tenant_id = ${param("tenantId")} and id = ${param("name")} and deleted_at is null`);
// A slug may equal another product's SKU.
const selectByName = statement<{ id: string }>(sql`
  select id from ${products}
  where tenant_id = ${param("tenantId")} and slug = ${param("name")} and deleted_at is null
  union select id from ${products}
  where tenant_id = ${param("tenantId")} and sku = ${param("name")} and deleted_at is null and not has_variants
  union select product_id from ${productVariants}
  where tenant_id = ${param("tenantId")} and sku = ${param("name")} and deleted_at is null`);
// Reads all products of the store: only for a name that nothing has exactly.
const selectInAnyCase = statement<{ name: string }>(sql`
  select sku as name from ${products}
  where tenant_id = ${param("tenantId")} and lower(sku) = lower(${param("name")}) and deleted_at is null and not has_variants
  union select sku from ${productVariants}
  where tenant_id = ${param("tenantId")} and lower(sku) = lower(${param("name")}) and deleted_at is null`);
const selectBySlug = statement<{ id: string }>(sql`
  select id from ${products} where tenant_id = ${param("tenantId")} and slug = ${param("slug")} and deleted_at is null
    and (${param("seesDrafts")} or status = 'published')`);
const selectVariant = statement<{ productId: string; variantId: string }>(sql`
  select product_id as productId, id as variantId from ${productVariants}
  where tenant_id = ${param("tenantId")} and (id = ${param("name")} or sku = ${param("name")}) and deleted_at is null`);
const selectNames = statement<{ slug: string; sku: string | null }>(sql`
  select slug, case when has_variants then null else sku end as sku from ${products}
  where tenant_id = ${param("tenantId")} and deleted_at is null order by created_at desc, id desc
  limit ${param("max")}`);

/** The id of the product that a path names by id, or by the slug of one that the caller may see. Errors: notFound. */
export async function findProductId(ctx: Ctx, named: string): Promise<string> {
  if (isId("prod", named)) return named;
  const values = { tenantId: ctx.tenant.id, slug: named, seesDrafts: isCatalogOnly(ctx) ? 0 : 1 };
  const found = isSlug(named) ? await get(ctx.db, selectBySlug, values) : undefined;
  if (!found) throw notFound("product", named);
  return found.id;
}

/** Finds the id of a product by id, slug or SKU (also of a variant). Errors: notFound, conflict if ambiguous. */
export async function resolveProductId(ctx: Ctx, named: string): Promise<string> {
  const { id: tenantId, namespace } = ctx.tenant;
  const isProductId = isId("prod", named);
  const select = isProductId ? selectById : selectByName;
  const [only, ...others] = await all(ctx.db, select, { tenantId, name: named });
  if (only === undefined) {
    const rows = isProductId ? [] : await all(ctx.db, selectNames, { tenantId, max: maxCompared });
    const names = rows.flatMap(({ slug, sku }) => (sku === null ? [slug] : [slug, sku]));
    throw unknownName("product", named, names, namespace);
  }
  if (others.length === 0) return only.id;
  throw ambiguousName("products", named, namespace, [only.id, ...others.map(({ id }) => id)]);
}

/**
 * Finds the item with stock of its own by id, slug or SKU: a variant by its id or SKU, otherwise a product.
 * @throws as resolveProductId.
 */
export async function resolveStockItem(ctx: Ctx, named: string): Promise<StockItem> {
  const [variant] = await all(ctx.db, selectVariant, { tenantId: ctx.tenant.id, name: named });
  if (variant && isId("var", named)) return variant;
  const exact = await all(ctx.db, selectByName, { tenantId: ctx.tenant.id, name: named });
  const alike = exact.length > 0 ? [] : await all(ctx.db, selectInAnyCase, { tenantId: ctx.tenant.id, name: named });
  const [only] = alike;
  if (only && only.name !== named && alike.length === 1) return resolveStockItem(ctx, only.name);
  const productId = await resolveProductId(ctx, named);
  return { productId, variantId: variant?.variantId ?? null };
}

const ofStore = sql`select c.id from ${categories} c where c.tenant_id = ${param("tenantId")}`;
const selectIds = statement<{ id: string | null }>(sql`
  select coalesce((${ofStore} and c.id = n.value), (${ofStore} and c.slug = n.value)) as id
  from json_each(${param("names")}) n order by n.key`);

const selectSlugs = statement<{ slug: string }>(sql`
  select slug from ${categories} where tenant_id = ${param("tenantId")} limit ${param("max")}`);

/** Replaces the names of categories, ids or slugs, by their ids. Errors: validationFailed for one of no category. */
export async function resolveCategories<Columns extends ProductColumns>(ctx: Ctx, columns: Columns): Promise<Columns> {
  const { categoryIds = "[]" } = columns;
  if (categoryIds === "[]") return columns;
  const ids = await findCategoryIds(ctx, "category_ids", JSON.parse(categoryIds) as string[]);
  return { ...columns, categoryIds: JSON.stringify(ids) };
}

/** The ids of categories named by ids or slugs, without repetitions. Errors: validationFailed naming the place in `field`. */
export async function findCategoryIds(ctx: Ctx, field: string, names: readonly string[]): Promise<string[]> {
  const asked = JSON.stringify(names.map((name) => name.normalize("NFC")));
  const rows = await all(ctx.db, selectIds, { tenantId: ctx.tenant.id, names: asked });
  const ids = rows.flatMap(({ id }) => id ?? []);
  if (ids.length === rows.length) return [...new Set(ids)];
  const place = rows.findIndex(({ id }) => id === null);
  const name = names[place] as string;
  const slugs = await all(ctx.db, selectSlugs, { tenantId: ctx.tenant.id, max: maxCompared });
  const meant = suggestWord(
    name,
    slugs.map(({ slug }) => slug),
  );
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  throw invalidField(`${field}.${place}`, `${unknownCategory}: ${JSON.stringify(name)}${hint}`);
}
