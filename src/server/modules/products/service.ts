import type { ResultSet } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, preconditionFailed } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { bindEvent, recordEvent } from "../events/service.ts";
import { parseLanguage } from "../tenants/language.ts";
import { type ProductColumns, productColumns } from "./input.ts";
import { indexInserted, indexProduct } from "./list/search.ts";
import type { ProductInput, ProductPatch, ProductReplacement } from "./model.ts";
import type { RenderedProduct } from "./rendering.ts";
import { slugFrom } from "./slug.ts";
import { stockChanged } from "./stock.ts";
import { products, productVariants } from "./table.ts";
import { explaining, noSuchProduct, requireProductId } from "./transfer/refusal.ts";
import { languageChain, servedJson, servedLanguage } from "./translation.ts";
import { isOwnLanguage, updateProduct } from "./update.ts";
import { insertVariants, searchedTexts, variantRows } from "./variants/variant-insert.ts";
import { followPrice } from "./variants/variant-statement.ts";

const living = sql`tenant_id = ${param("tenantId")} and id = ${param("id")} and deleted_at is null`;

const published = sql`${living} and status = 'published'`;
/** As it was written, in its own language: all that most products have. */
const select = (condition: SQL) =>
  statement<RenderedProduct & { is_translated: number }>(sql`
    select rendered as json, version, lang as language, translations <> '{}' as is_translated
    from ${products} where ${condition}`);
const selectServed = (condition: SQL) =>
  statement<RenderedProduct>(sql`
    select ${servedJson} as json, version, ${servedLanguage} as language from ${products} where ${condition}`);
const selects = { any: select(living), published: select(published) };
const servedSelects = { any: selectServed(living), published: selectServed(published) };
const selectStock = statement<{ stock: number | null; has_variants: number }>(sql`
  select stock, has_variants from ${products} where ${living}`);
// The end of the id is random, so it makes any number of equal titles different addresses.
const freeSlug = sql`case when ${param("isSlugGiven")} or not exists (select 1 from ${products}
    where tenant_id = ${param("tenantId")} and slug = ${param("slug")} and deleted_at is null)
  then ${param("slug")} else ${param("slug")} || '-' || substr(${param("id")}, -10) end`;
const insertProduct = statement<RenderedProduct>(sql`
  insert into ${products} (id, tenant_id, title, slug, description, status, price_minor, currency, currency_digits,
    compare_at_minor, sku, stock, allow_backorder, images, tags, metadata, translations, lang, is_indexed, created_at,
    updated_at, published_at)
  values (${param("id")}, ${param("tenantId")}, ${param("title")}, ${freeSlug}, ${param("description")},
    ${param("status")}, ${param("priceMinor")}, ${param("currency")}, ${param("currencyDigits")},
    ${param("compareAtMinor")}, ${param("sku")}, ${param("stock")}, ${param("allowBackorder")}, ${param("images")},
    ${param("tags")}, ${param("metadata")}, ${param("translations")}, ${param("lang")}, 1, ${param("now")},
    ${param("now")}, ${param("publishedAt")})
  returning rendered as json, version, lang as language`);
const deleteProductRow = statement<{ version: number; has_variants: number }>(sql`
  update ${products} set deleted_at = ${param("now")}, updated_at = ${param("now")}, version = version + 1
  where ${living} and version = coalesce(${param("ifMatch")}, version) returning version, has_variants`);
const deleteVariants = statement(sql`
  update ${productVariants} set deleted_at = ${param("now")}, updated_at = ${param("now")}, version = version + 1
  where tenant_id = ${param("tenantId")} and product_id = ${param("id")} and deleted_at is null`);

/**
 * Creates a product in the store's currency, with its variants. Its slug is made from the title unless given.
 * @param lang the language of its texts; the store's default without it.
 * @throws validationFailed for a field at fault, conflict for a slug, SKU or options that are taken.
 */
export async function createProduct(ctx: Ctx, input: ProductInput, lang?: string): Promise<RenderedProduct> {
  const id = newId("prod");
  const columns = completeColumns(productColumns(ctx, input));
  const variants = input.variants?.length ? variantRows(ctx, input.variants) : undefined;
  if (variants) refuseOwn(columns);
  const language = lang === undefined ? ctx.tenant.language : parseLanguage("lang", lang);
  const clash = isOwnLanguage(columns.translations, language);
  if (clash) throw clash;
  const now = toTimestamp(ctx.now());
  const row = {
    ...columns,
    id,
    tenantId: ctx.tenant.id,
    slug: columns.slug ?? (slugFrom(input.title) || "product"),
    isSlugGiven: columns.slug === undefined ? 0 : 1,
    lang: language,
    now,
    publishedAt: columns.status === "published" ? now : null,
  };
  const texts = { ...row, title: input.title, variants: JSON.stringify(variants?.map(searchedTexts) ?? []) };
  const statements = [
    bind(insertProduct, row),
    indexInserted(ctx.tenant.id, texts),
    bindEvent(ctx, { type: "product.created", subject: id, data: { version: 1 } }),
  ];
  return explaining(async () => {
    if (!variants) return insertedOf(await ctx.db.batch(statements));
    return inTransaction(ctx, async (tx) => {
      await tx.db.batch(statements);
      await insertVariants(tx, id, variants);
      return getProduct(tx, id, language);
    });
  });
}

function insertedOf(results: ResultSet[]): RenderedProduct {
  const { json, version, language } = (results[0] as ResultSet).rows[0] as unknown as RenderedProduct;
  return { json, version, language };
}

/**
 * One product of the tenant; drafts and archived ones only for those who may see them.
 * @param lang the language in which its texts are wanted.
 * @throws notFound.
 */
export async function getProduct(ctx: Ctx, id: string, lang?: string): Promise<RenderedProduct> {
  requireProductId(id);
  const which = seesDrafts(ctx) ? "any" : "published";
  const values = { tenantId: ctx.tenant.id, id };
  const written = await get(ctx.db, selects[which], values);
  if (!written) throw noSuchProduct();
  const { is_translated: isTranslated, ...product } = written;
  if (!isTranslated) return product;
  const languages = languageChain(lang, ctx.tenant.language);
  const served = await get(ctx.db, servedSelects[which], { ...values, languages });
  if (!served) throw noSuchProduct();
  return served;
}

/**
 * Replaces every field of a product: what is not given goes back to its default, except the slug, which is the
 * product's address and stays. Variants are no fields: they stay, and with them the product's own stock and SKU.
 * @param ifMatch the version that must stand; null for any.
 * @param lang the language that its texts are in from now on; the same as before without it.
 * @throws notFound, preconditionFailed, validationFailed, conflict.
 */
export async function replaceProduct(
  ctx: Ctx,
  id: string,
  input: ProductReplacement,
  ifMatch: number | null,
  lang?: string,
): Promise<RenderedProduct> {
  return write(ctx, id, { columns: completeColumns(productColumns(ctx, input)), merge: false, lang, ifMatch });
}

/**
 * Changes the fields given; `metadata` and `translations` are merged as RFC 7396 says.
 * @param ifMatch the version that must stand; null for any.
 * @param lang the language of the texts given: those in others stay. Without it they are the ones that a reader sees who
 * names no language.
 * @throws notFound, preconditionFailed, validationFailed, conflict.
 */
export async function patchProduct(
  ctx: Ctx,
  id: string,
  patch: ProductPatch,
  ifMatch: number | null,
  lang?: string,
): Promise<RenderedProduct> {
  const fields = Object.keys(patch);
  return write(ctx, id, { columns: productColumns(ctx, patch), merge: true, lang, ifMatch }, fields);
}

/**
 * Takes a product out of the store, and its variants with it. The rows stay for the orders that name them; slug and
 * SKUs are free again.
 * @throws notFound, preconditionFailed.
 */
export async function deleteProduct(ctx: Ctx, id: string, ifMatch: number | null): Promise<void> {
  requireProductId(id);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()), ifMatch };
    const gone = await get(tx.db, deleteProductRow, values);
    if (!gone) throw (await get(tx.db, selectStock, values)) ? preconditionFailed() : noSuchProduct();
    if (gone.has_variants) await run(tx.db, deleteVariants, values);
    await recordEvent(tx, { type: "product.deleted", subject: id, data: { version: gone.version } });
  });
}

/** Whether the caller may see what is not published. */
export function seesDrafts(ctx: Ctx): boolean {
  return ctx.actor.kind !== "visitor" && !(ctx.actor.kind === "user" && ctx.actor.role === "customer");
}

/** Columns whose words the search index knows. */
const searched = ["title", "description", "tags", "sku", "translations"] as const;

function write(ctx: Ctx, id: string, change: Parameters<typeof updateProduct>[2], fields?: string[]) {
  requireProductId(id);
  const { stock } = change.columns;
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id };
    const before = stock === undefined ? undefined : await get(tx.db, selectStock, values);
    let product = await updateProduct(tx, id, change);
    await recordEvent(tx, { type: "product.updated", subject: id, data: { version: product.version, fields } });
    if (searched.some((name) => change.columns[name] !== undefined)) await indexProduct(tx, id);
    // What was answered stood before the variants followed.
    if (await letVariantsFollow(tx, id, change.columns)) product = await getProduct(tx, id, change.lang);
    if (before && !before.has_variants && before.stock !== stock) {
      await tx.db.execute(stockChanged(tx, { productId: id, variantId: null }, "edit"));
    }
    return product;
  });
}

/** Gives variants without a price of their own that which the product has just got; answers whether any was changed. */
async function letVariantsFollow(tx: Ctx, id: string, { priceMinor, compareAtMinor }: ProductColumns) {
  if (priceMinor === undefined && compareAtMinor === undefined) return false;
  const values = { tenantId: tx.tenant.id, productId: id, now: toTimestamp(tx.now()) };
  return (await all(tx.db, followPrice, values)).length > 0;
}

function refuseOwn(columns: ProductColumns): void {
  for (const field of ["sku", "stock"] as const) {
    if (columns[field] != null) throw invalidField(field, "is each variant's own: this product has variants");
  }
}

function completeColumns(columns: ProductColumns) {
  return {
    description: null,
    status: "published" as const,
    compareAtMinor: null,
    sku: null,
    stock: null,
    allowBackorder: 0 as const,
    images: "[]",
    tags: "[]",
    metadata: "{}",
    translations: "{}",
    ...columns,
  };
}
