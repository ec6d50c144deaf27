import { type SQL, sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../../context.ts";
import { isCheckViolation, isUniqueViolation } from "../../../db/db-errors.ts";
import { get, ofStore, ofStoreNotDeleted, param, statement } from "../../../db/statement.ts";
import { AppError, conflict, fieldError, invalidField } from "../../../errors.ts";
import { mergedMetadataTooLarge } from "../../../values/fields.ts";
import { categories } from "../categories/table.ts";
import { unknownPicture } from "./images.ts";
import { translationsTooLarge } from "./input.ts";
import { products, productVariants } from "./table.ts";

export const unknownCategory = "is not a category of this store";

export const notForSale = {
  productId: "must be the id of a product, prod_…; only paths take slugs, too",
  product: "is not a published product of this store",
  variant: "is not a variant of a published product of this store",
} as const;

const isProduct = ofStoreNotDeleted(products);
const isVariant = ofStoreNotDeleted(productVariants);
/** Finds the first value that another record has: its index, and the id and slug of that record. */
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

/** Runs a write of products, variants or categories. A violated constraint becomes an error of its field. */
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
  // The category was deleted meanwhile.
  if (isCheckViolation(error, "products_categories")) return invalidField("category_ids", unknownCategory);
  if (isUniqueViolation(error, "product_variants.options_key")) {
    return fieldError(conflict, "options", "another variant of the product has the same options", { cause: error });
  }
  return error;
}
