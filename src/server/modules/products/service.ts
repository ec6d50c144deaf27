import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { toTimestamp } from "../../clock.ts";
import type { Ctx } from "../../context.ts";
import { isCheckViolation, isUniqueViolation } from "../../db/db-errors.ts";
import { type CompiledStatement, get, statement } from "../../db/statement.ts";
import { AppError, invalidField } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { mergedMetadataTooLarge } from "../../metadata.ts";
import { parseLanguage } from "../tenants/language.ts";
import { type ProductColumns, productColumns } from "./input.ts";
import type { ProductInput, ProductPatch } from "./model.ts";
import type { RenderedProduct } from "./rendering.ts";
import { slugFrom } from "./slug.ts";
import { products } from "./table.ts";

const param = sql.placeholder;
const living = and(
  eq(products.tenantId, param("tenantId")),
  eq(products.id, param("id")),
  isNull(products.deletedAt),
) as SQL;

const selectAny = statement<RenderedProduct>(sql`
  select rendered as json, version from ${products} where ${living}`);
const selectPublished = statement<RenderedProduct>(sql`
  select rendered as json, version from ${products} where ${living} and status = 'published'`);
const insertProduct = statement<RenderedProduct>(sql`
  insert into ${products} (id, tenant_id, title, slug, description, status, price_minor, currency, currency_digits, sku,
    stock, images, tags, metadata, lang, created_at, updated_at, published_at)
  values (${param("id")}, ${param("tenantId")}, ${param("title")}, ${param("slug")}, ${param("description")},
    ${param("status")}, ${param("priceMinor")}, ${param("currency")}, ${param("currencyDigits")}, ${param("sku")},
    ${param("stock")}, ${param("images")}, ${param("tags")}, ${param("metadata")}, ${param("lang")}, ${param("now")},
    ${param("now")}, ${param("publishedAt")})
  returning rendered as json, version`);
const deleteProductRow = statement<{ id: string }>(sql`
  update ${products} set deleted_at = ${param("now")}, updated_at = ${param("now")}, version = version + 1
  where ${living} and version = coalesce(${param("ifMatch")}, version) returning id`);

/**
 * Creates a product in the store's currency. Its slug is made from the title unless given.
 * @param lang the language of its texts; the store's default without it.
 * @throws AppError 5102 for a field at fault, 5302 for a slug or SKU that is taken.
 */
export async function createProduct(ctx: Ctx, input: ProductInput, lang?: string): Promise<RenderedProduct> {
  const id = newId("prod");
  const columns = productColumns(ctx, input);
  const now = toTimestamp(ctx.now());
  const row = {
    ...completeColumns(columns),
    id,
    tenantId: ctx.tenant.id,
    lang: lang === undefined ? ctx.tenant.language : parseLanguage("lang", lang),
    now,
    publishedAt: (columns.status ?? "published") === "published" ? now : null,
  };
  const made = slugFrom(input.title) || "product";
  try {
    return await insert(ctx, { ...row, slug: columns.slug ?? made });
  } catch (error) {
    const isMadeSlugTaken = columns.slug === undefined && isUniqueViolation(error, "products.slug");
    if (!isMadeSlugTaken) throw explainConflict(error);
  }
  // The tail of the id is random, so one more try is enough for any number of equal titles.
  return insert(ctx, { ...row, slug: `${made}-${id.slice(-10)}` }).catch((error) => {
    throw explainConflict(error);
  });
}

/**
 * One product of the tenant; drafts and archived ones only for those who may see them.
 * @throws AppError 5301.
 */
export async function getProduct(ctx: Ctx, id: string): Promise<RenderedProduct> {
  requireProductId(id);
  const select = seesDrafts(ctx) ? selectAny : selectPublished;
  const product = await get(ctx.db, select, { tenantId: ctx.tenant.id, id });
  if (!product) throw noSuchProduct();
  return product;
}

/**
 * Replaces every field of a product: what is not given goes back to its default, except the slug, which is the
 * product's address and stays.
 * @param ifMatch the version that must stand; null for any.
 * @throws AppError 5301, 5303, 5102, 5302.
 */
export function replaceProduct(
  ctx: Ctx,
  id: string,
  input: ProductInput,
  ifMatch: number | null,
): Promise<RenderedProduct> {
  const { slug, ...others } = completeColumns(productColumns(ctx, input));
  return update(ctx, id, slug === undefined ? others : { ...others, slug }, ifMatch, false);
}

/**
 * Changes the fields given; `metadata` is merged as RFC 7396 says.
 * @param ifMatch the version that must stand; null for any.
 * @throws AppError 5301, 5303, 5102, 5302.
 */
export function patchProduct(
  ctx: Ctx,
  id: string,
  patch: ProductPatch,
  ifMatch: number | null,
): Promise<RenderedProduct> {
  return update(ctx, id, productColumns(ctx, patch), ifMatch, true);
}

/**
 * Takes a product out of the store. Its row stays for the orders that name it; its slug and SKU are free again.
 * @throws AppError 5301, 5303.
 */
export async function deleteProduct(ctx: Ctx, id: string, ifMatch: number | null): Promise<void> {
  requireProductId(id);
  const now = toTimestamp(ctx.now());
  const gone = await get(ctx.db, deleteProductRow, { tenantId: ctx.tenant.id, id, now, ifMatch });
  if (!gone) throw await missOrChanged(ctx, id);
}

/** Whether the caller may see what is not published. */
export function seesDrafts(ctx: Ctx): boolean {
  return ctx.actor.kind !== "visitor" && !(ctx.actor.kind === "user" && ctx.actor.role === "customer");
}

async function insert(ctx: Ctx, values: Record<string, unknown>): Promise<RenderedProduct> {
  const product = await get(ctx.db, insertProduct, values);
  if (!product) throw new Error("An insert returned no row");
  return product;
}

function completeColumns(columns: ProductColumns) {
  return {
    description: null,
    status: "published" as const,
    sku: null,
    stock: null,
    images: "[]",
    tags: "[]",
    metadata: "{}",
    ...columns,
  };
}

const columnNames: Record<keyof ProductColumns, string> = {
  title: "title",
  slug: "slug",
  description: "description",
  status: "status",
  priceMinor: "price_minor",
  currency: "currency",
  currencyDigits: "currency_digits",
  sku: "sku",
  stock: "stock",
  images: "images",
  tags: "tags",
  metadata: "metadata",
};
/** One statement for each set of columns that callers have changed together. */
const updates = new Map<string, CompiledStatement<RenderedProduct>>();

function updateStatement(names: (keyof ProductColumns)[], mergeMetadata: boolean): CompiledStatement<RenderedProduct> {
  const key = `${mergeMetadata} ${names.join(" ")}`;
  let made = updates.get(key);
  if (!made) {
    const changes = names.map((name) => {
      const column = sql.raw(columnNames[name]);
      if (name === "metadata" && mergeMetadata) return sql`${column} = json_patch(metadata, ${param(name)})`;
      return sql`${column} = ${param(name)}`;
    });
    if (names.includes("status")) {
      changes.push(sql`published_at = case when ${param("status")} = 'published' then coalesce(published_at, ${param("now")})
        else published_at end`);
    }
    changes.push(sql`updated_at = ${param("now")}`, sql`version = version + 1`);
    // The guard on the version stands in the statement: between a read and a write there would be room for another.
    made = statement<RenderedProduct>(sql`
      update ${products} set ${sql.join(changes, sql`, `)}
      where ${living} and version = coalesce(${param("ifMatch")}, version)
      returning rendered as json, version`);
    updates.set(key, made);
  }
  return made;
}

async function update(
  ctx: Ctx,
  id: string,
  columns: ProductColumns,
  ifMatch: number | null,
  mergeMetadata: boolean,
): Promise<RenderedProduct> {
  requireProductId(id);
  const names = (Object.keys(columnNames) as (keyof ProductColumns)[]).filter((name) => columns[name] !== undefined);
  const values = { ...columns, tenantId: ctx.tenant.id, id, now: toTimestamp(ctx.now()), ifMatch };
  let product: RenderedProduct | undefined;
  try {
    product = await get(ctx.db, updateStatement(names, mergeMetadata), values);
  } catch (error) {
    throw explainConflict(error);
  }
  if (!product) throw await missOrChanged(ctx, id);
  return product;
}

async function missOrChanged(ctx: Ctx, id: string): Promise<AppError> {
  const product = await get(ctx.db.primary, selectAny, { tenantId: ctx.tenant.id, id });
  return product ? new AppError(5303) : noSuchProduct();
}

/** Spares the database what cannot be an id, and what it could not hold, such as NUL. */
function requireProductId(id: string): void {
  if (!isId("prod", id)) throw noSuchProduct();
}

function noSuchProduct(): AppError {
  return new AppError(5301, "There is no such product.");
}

function explainConflict(error: unknown): unknown {
  if (isCheckViolation(error, "products_metadata_size")) {
    return invalidField("metadata", mergedMetadataTooLarge);
  }
  for (const field of ["slug", "sku"] as const) {
    if (!isUniqueViolation(error, `products.${field}`)) continue;
    const message = "is taken by another product";
    return new AppError(5302, `${field}: ${message}.`, { details: [{ field, message }], cause: error });
  }
  return error;
}
