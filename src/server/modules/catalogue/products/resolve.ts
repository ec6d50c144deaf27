import { and, type SQL, sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly, mayRead } from "../../../context.ts";
import { isCheckViolation, isUniqueViolation } from "../../../db/db-errors.ts";
import { all, get, ofStore, ofStoreNotDeleted, param, statement } from "../../../db/statement.ts";
import { AppError, conflict, fieldError, invalidField, notFound } from "../../../errors.ts";
import { mergedMetadataTooLarge } from "../../../values/fields.ts";
import { isId } from "../../../values/stamps.ts";
import { ambiguousName, maxCompared, suggestWord, unknownName } from "../../../values/unknown-name.ts";
import { categories } from "../categories/table.ts";
import { unknownPicture } from "./images.ts";
import type { ProductColumns } from "./input.ts";
import { translationsTooLarge } from "./input.ts";
import { isSlug } from "./slug.ts";
import type { StockItem } from "./stock.ts";
import { products, productVariants } from "./table.ts";

export const unknownCategory = "is not a category of this store";

const isProduct = ofStoreNotDeleted(products);
const isVariant = ofStoreNotDeleted(productVariants);
/** Finds the first of `values` that another record has. Returns its index, and the record's id and slug. */
const findFirst = (other: SQL, table: typeof products | typeof categories = products) =>
  statement<{ place: number; other: string; slug: string }>(sql`
    with found as (select key as place, ${other} as other from json_each(${param("values")}))
    select place, other, (select slug from ${table} where ${ofStore(table)} and id = other) as slug
    from found where other is not null order by place limit 1`);
const bySku = findFirst(sql`coalesce((select id from ${products} where ${isProduct} and sku = value),
  (select product_id from ${productVariants} where ${isVariant} and sku = value))`);
const bySlug = findFirst(sql`(select id from ${products} where ${isProduct} and slug = value)`);
const isCategory = ofStore(categories);
const categoryBySlug = findFirst(sql`(select id from ${categories} where ${isCategory} and slug = value)`, categories);
const uniques = [
  { column: "products.slug", field: "slug", kind: "product", find: bySlug },
  { column: "categories.slug", field: "slug", kind: "category", find: categoryBySlug },
  { column: "products.sku", field: "sku", kind: "product", find: bySku },
  { column: "product_variants.sku", field: "sku", kind: "product", find: bySku },
] as const;

type UniqueValues = { slug?: string | undefined; sku?: string | null | undefined; skus?: unknown[] | undefined };

/** Runs a write of products, variants or categories. If a constraint fails, throws an error that names the field. */
export async function explainConflicts<T>(ctx: Ctx, given: UniqueValues, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const unique = uniques.find(({ column }) => isUniqueViolation(error, column));
    throw unique ? await explainTaken(ctx, given, unique, error) : explained(error);
  }
}

async function explainTaken(ctx: Ctx, given: UniqueValues, unique: (typeof uniques)[number], cause: unknown) {
  const skus = unique.column === "product_variants.sku" ? given.skus : undefined;
  const values = skus ?? [given[unique.field]];
  const found = await get(ctx.db, unique.find, { tenantId: ctx.tenant.id, values: JSON.stringify(values) });
  const field = skus ? `variants.${found?.place ?? 0}.sku` : unique.field;
  if (!found || !mayRead(ctx, "products:read")) {
    return fieldError(conflict, field, `is taken by another ${unique.kind}`, { cause });
  }
  const message = `${JSON.stringify(values[found.place])} is taken by ${unique.kind} ${found.slug}`;
  return fieldError(conflict, field, message, { id: found.other, cause });
}

function explained(error: unknown): unknown {
  if (isCheckViolation(error, "products_metadata_size")) return invalidField("metadata", mergedMetadataTooLarge);
  if (["products", "categories"].some((table) => isCheckViolation(error, `${table}_translations_size`)))
    return invalidField("translations", translationsTooLarge);
  if (isCheckViolation(error, "known_pictures")) return invalidField("images", unknownPicture);
  // A category was deleted after its id was looked up.
  if (isCheckViolation(error, "products_categories")) return invalidField("category_ids", unknownCategory);
  if (isUniqueViolation(error, "product_variants.options_key")) {
    return fieldError(conflict, "options", "another variant of the product has the same options", { cause: error });
  }
  return error;
}

const selectBy = (condition: SQL) =>
  statement((q) => q.select({ id: products.id }).from(products).where(and(isProduct, condition)));
const selectById = selectBy(sql`id = ${param("name")}`);
// A slug may equal another product's SKU, so a name can find several products.
const selectByName = statement<{ id: string }>(sql`
  select id from ${products} where ${isProduct} and slug = ${param("name")}
  union select id from ${products} where ${isProduct} and sku = ${param("name")} and not has_variants
  union select product_id from ${productVariants} where ${isVariant} and sku = ${param("name")}`);
const selectBySlug = selectBy(sql`slug = ${param("name")} and (${param("seesDrafts")} or status = 'published')`);
const ids = { productId: productVariants.productId, variantId: productVariants.id };
const isNamed = sql`${isVariant} and (id = ${param("name")} or sku = ${param("name")})`;
const selectVariant = statement((q) => q.select(ids).from(productVariants).where(isNamed));
const names = { slug: products.slug, sku: sql<string | null>`iif(has_variants, null, sku)` };
const newest = sql`created_at desc, id desc`;
const selectNames = statement((q) =>
  q.select(names).from(products).where(isProduct).orderBy(newest).limit(maxCompared),
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
  // The SKU may also be another product's slug. `resolveProductId` then refuses the name as ambiguous.
  const productId = await resolveProductId(ctx, named);
  return { productId, variantId: variant?.variantId ?? null };
}

const selectIds = statement<{ id: string | null }>(sql`
  select coalesce((select id from ${categories} where ${isCategory} and id = n.value),
    (select id from ${categories} where ${isCategory} and slug = n.value)) as id
  from json_each(${param("names")}) n order by n.key`);
const { slug } = categories;
const selectSlugs = statement((q) => q.select({ slug }).from(categories).where(isCategory).limit(maxCompared));

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
