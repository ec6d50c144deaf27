import { and, desc, type SQL, sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { all, get, ofStore, ofStoreNotDeleted, param, statement } from "../../../db/statement.ts";
import { invalidField, notFound } from "../../../errors.ts";
import { isId } from "../../../values/stamps.ts";
import { ambiguousName, maxCompared, suggestWord, unknownName } from "../../../values/unknown-name.ts";
import { categories } from "../categories/table.ts";
import type { ProductColumns } from "./input.ts";
import { unknownCategory } from "./product-errors.ts";
import { isSlug } from "./slug.ts";
import type { StockItem } from "./stock.ts";
import { products, productVariants } from "./table.ts";

const isProduct = ofStoreNotDeleted(products);
const isVariant = ofStoreNotDeleted(productVariants);
const selectBy = (condition: SQL) =>
  statement((q) => q.select({ id: products.id }).from(products).where(and(isProduct, condition)));
const selectById = selectBy(sql`id = ${param("name")}`);
// A slug may equal another product's SKU.
const selectByName = statement<{ id: string }>(sql`
  select id from ${products} where ${isProduct} and slug = ${param("name")}
  union select id from ${products} where ${isProduct} and sku = ${param("name")} and not has_variants
  union select product_id from ${productVariants} where ${isVariant} and sku = ${param("name")}`);
// Reads all products of the store: only for a name that nothing has exactly.
const selectInAnyCase = statement<{ sku: string }>(sql`
  select sku from ${products} where ${isProduct} and lower(sku) = lower(${param("name")}) and not has_variants
  union select sku from ${productVariants} where ${isVariant} and lower(sku) = lower(${param("name")})`);
const selectBySlug = selectBy(sql`slug = ${param("name")} and (${param("seesDrafts")} or status = 'published')`);
const ids = { productId: productVariants.productId, variantId: productVariants.id };
const isNamed = sql`${isVariant} and (id = ${param("name")} or sku = ${param("name")})`;
const selectVariant = statement((q) => q.select(ids).from(productVariants).where(isNamed));
const selectNames = statement((q) =>
  q
    .select({ slug: products.slug, sku: sql<string | null>`iif(has_variants, null, sku)` })
    .from(products)
    .where(isProduct)
    .orderBy(desc(products.createdAt), desc(products.id))
    .limit(maxCompared),
);

/** Returns the id of the product that a path names by id, or by the slug of a visible product. Errors: notFound. */
export async function findProductId(ctx: Ctx, named: string): Promise<string> {
  if (isId("prod", named)) return named;
  const values = { tenantId: ctx.tenant.id, name: named, seesDrafts: isCatalogOnly(ctx) ? 0 : 1 };
  const found = isSlug(named) ? await get(ctx.db, selectBySlug, values) : undefined;
  if (!found) throw notFound("product", named);
  return found.id;
}

export async function resolveProductId(ctx: Ctx, named: string): Promise<string> {
  const { id: tenantId, namespace } = ctx.tenant;
  const isProductId = isId("prod", named);
  const select = isProductId ? selectById : selectByName;
  const [only, ...others] = await all(ctx.db, select, { tenantId, name: named });
  if (only === undefined) {
    const rows = isProductId ? [] : await all(ctx.db, selectNames, { tenantId });
    const names = rows.flatMap(({ slug, sku }) => (sku === null ? [slug] : [slug, sku]));
    throw unknownName("product", named, names, namespace);
  }
  if (others.length === 0) return only.id;
  throw ambiguousName("products", named, namespace, [only.id, ...others.map(({ id }) => id)]);
}

export async function resolveStockItem(ctx: Ctx, named: string): Promise<StockItem> {
  const values = { tenantId: ctx.tenant.id, name: named };
  const variant = await get(ctx.db, selectVariant, values);
  if (variant && isId("var", named)) return variant;
  if (!isId("prod", named) && !(await get(ctx.db, selectByName, values))) {
    const [alike, ...others] = await all(ctx.db, selectInAnyCase, values);
    if (alike && others.length === 0) return resolveStockItem(ctx, alike.sku);
  }
  // The SKU may also be another product's slug.
  const productId = await resolveProductId(ctx, named);
  return { productId, variantId: variant?.variantId ?? null };
}

const isCategory = ofStore(categories);
const selectIds = statement<{ id: string | null }>(sql`
  select coalesce((select id from ${categories} where ${isCategory} and id = n.value),
    (select id from ${categories} where ${isCategory} and slug = n.value)) as id
  from json_each(${param("names")}) n order by n.key`);
const selectSlugs = statement((q) =>
  q.select({ slug: categories.slug }).from(categories).where(isCategory).limit(maxCompared),
);

export async function resolveCategories<Columns extends ProductColumns>(ctx: Ctx, columns: Columns): Promise<Columns> {
  const { categoryIds = "[]" } = columns;
  if (categoryIds === "[]") return columns;
  const ids = await findCategoryIds(ctx, "category_ids", JSON.parse(categoryIds) as string[]);
  return { ...columns, categoryIds: JSON.stringify(ids) };
}

export async function findCategoryIds(ctx: Ctx, field: string, names: readonly string[]): Promise<string[]> {
  const asked = JSON.stringify(names.map((name) => name.normalize("NFC")));
  const rows = await all(ctx.db, selectIds, { tenantId: ctx.tenant.id, names: asked });
  const ids = rows.flatMap(({ id }) => id ?? []);
  if (ids.length === rows.length) return [...new Set(ids)];
  const place = rows.findIndex(({ id }) => id === null);
  const name = names[place] as string;
  const slugs = (await all(ctx.db, selectSlugs, { tenantId: ctx.tenant.id })).map(({ slug }) => slug);
  const meant = suggestWord(name, slugs);
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  throw invalidField(`${field}.${place}`, `${unknownCategory}: ${JSON.stringify(name)}${hint}`);
}
