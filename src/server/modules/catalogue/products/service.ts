import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { bind, get, isVersion, notDeleted, param, params, rowsOf, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { notFound, preconditionFailed } from "../../../errors.ts";
import { isId, newId, toTimestamp } from "../../../values/stamps.ts";
import { bindEvent, recordEvent } from "../../events/service.ts";
import { parseLanguage } from "../../tenants/input.ts";
import { insertVariants, newVariants, variantRows, withDeferredSummaries } from "../variants/variant-input.ts";
import { deletion, priceColumns, productPrice } from "../variants/variants.ts";
import { withSizes } from "./images.ts";
import { productColumns } from "./input.ts";
import type { ProductInput, ProductPatch, ProductReplacement } from "./model.ts";
import { audienceOf, forEachAudience, productViews, type RenderedProduct } from "./rendering.ts";
import { explainConflicts, findProductId, resolveCategories } from "./resolve.ts";
import { defaultSlug } from "./slug.ts";
import { stockChanged } from "./stock.ts";
import { products, productVariants } from "./table.ts";
import { languageChain, localizedJson, localizedLanguage } from "./translation.ts";
import type { ProductChange, WriteOptions } from "./update.ts";
import { freeSlug, ownLanguageError, selectCurrent, updateProduct, variantFieldError } from "./update.ts";

const isTranslated = sql<number>`translations <> '{}'`;
const reads = forEachAudience((audience) => {
  const { json, version, state } = productViews[audience];
  const isSeen = and(notDeleted(products), audience === "public" ? eq(products.status, "published") : undefined);
  const stored = { json, version, state, language: products.lang, isTranslated };
  const localized = { json: localizedJson(json), version, state, language: localizedLanguage };
  return {
    state: statement((q) => q.select({ state, version }).from(products).where(isSeen)),
    stored: statement((q) => q.select(stored).from(products).where(isSeen)),
    localized: statement((q) => q.select(localized).from(products).where(isSeen)),
  };
});
const insertProduct = statement((q) =>
  q
    .insert(products)
    .values({
      ...params("id", "tenantId", "title", "description", "status", "sku", "stock", "allowBackorder", "lang"),
      ...params("weightG", "requiresShipping", "taxClass"),
      ...params("priceMinor", "compareAtMinor", "currency", "currencyDigits", "publishedAt"),
      ...params("tags", "categoryIds", "metadata", "translations"),
      slug: freeSlug(products),
      images: withSizes(param("images")),
      createdAt: param("now"),
      updatedAt: param("now"),
    })
    .returning({ json: sql<string>`rendered`, version: products.version, language: products.lang }),
);
const { version, hasVariants } = products;
const deletable = and(notDeleted(products), isVersion(products));
const deleteProductRow = statement((q) =>
  q.update(products).set(deletion).where(deletable).returning({ version, hasVariants }),
);
const ofProduct = sql`tenant_id = ${param("tenantId")} and product_id = ${param("id")} and deleted_at is null`;
const deleteVariants = statement((q) => q.update(productVariants).set(deletion).where(ofProduct));
// Copies the product's price to variants without their own price. Returns the ids of changed variants.
const syncVariantPrices = statement(sql`
  update ${productVariants} set ${priceColumns} = ${productPrice}, version = version + 1, updated_at = ${param("now")}
  where ${ofProduct} and not has_own_price and ${priceColumns} is not ${productPrice}
  returning id`);

const defaults = {
  ...{ description: null, status: "published" as const, compareAtMinor: null, sku: null, stock: null },
  ...{ allowBackorder: 0 as const, weightG: null, requiresShipping: 1 as const, taxClass: "standard" },
  ...{ images: "[]", tags: "[]", categoryIds: "[]", metadata: "{}", translations: "{}" },
};

export async function createProduct(ctx: Ctx, input: ProductInput, lang?: string): Promise<RenderedProduct> {
  const id = newId("prod");
  const columns = await resolveCategories(ctx, { ...defaults, ...productColumns(ctx, input) });
  const variants = input.variants?.length ? variantRows(ctx, input.variants) : undefined;
  const own = variants && (["sku", "stock"] as const).find((field) => columns[field] !== null);
  if (own) throw variantFieldError(own);
  const language = lang === undefined ? ctx.tenant.language : parseLanguage("lang", lang);
  const clash = ownLanguageError(columns.translations, language);
  if (clash) throw clash;
  const now = toTimestamp(ctx.now());
  const row = {
    ...columns,
    id,
    tenantId: ctx.tenant.id,
    slug: columns.slug ?? defaultSlug(input.title, language),
    isSlugGiven: columns.slug === undefined ? 0 : 1,
    lang: language,
    now,
    publishedAt: columns.status === "published" ? now : null,
  };
  const statements = [
    bind(insertProduct, row),
    bindEvent(ctx, { type: "product.created", subject: id, data: { version: 1 } }),
  ];
  return explainConflicts(ctx, { ...row, skus: variants?.map(({ sku }) => sku) }, async () => {
    if (!variants) {
      const [inserted] = await ctx.db.batch(statements);
      return rowsOf(insertProduct, inserted)[0] as RenderedProduct;
    }
    const added = withDeferredSummaries([bind(insertVariants, newVariants(ctx, id, variants))]);
    return inTransaction(ctx, async (tx) => {
      await tx.db.batch([...statements, ...added]);
      return getProduct(tx, id, language);
    });
  });
}

export async function getProduct(ctx: Ctx, named: string, lang?: string): Promise<RenderedProduct> {
  const id = isId("prod", named) ? named : await findProductId(ctx, named);
  const values = { tenantId: ctx.tenant.id, id, languages: languageChain(lang, ctx.tenant.language) };
  const { stored, localized } = reads[audienceOf(ctx)];
  const written = await get(ctx.db, stored, values);
  const product = written?.isTranslated ? await get(ctx.db, localized, values) : written;
  if (!product) throw notFound("product", named);
  return product;
}

/** Returns a product's `state` (see `productViews`) and version, or undefined. Errors: notFound for an unknown slug. */
export async function getProductState(ctx: Ctx, named: string) {
  const id = await findProductId(ctx, named);
  return get(ctx.db, reads[audienceOf(ctx)].state, { tenantId: ctx.tenant.id, id });
}

export async function replaceProduct(ctx: Ctx, id: string, input: ProductReplacement, options: WriteOptions) {
  return write(ctx, id, { columns: { ...defaults, ...productColumns(ctx, input) }, merge: false, ...options });
}

/** Changes the given fields. Merges metadata and translations (RFC 7396). Errors: notFound, preconditionFailed. */
export async function patchProduct(ctx: Ctx, id: string, patch: ProductPatch, options: WriteOptions) {
  return write(ctx, id, { columns: productColumns(ctx, patch), merge: true, ...options }, Object.keys(patch));
}

/** Sets the fields of an import file. Replaces metadata and translations. `lang` is the product's language. */
export async function setProductFields(ctx: Ctx, id: string, fields: ProductPatch, lang: string) {
  const change = { columns: productColumns(ctx, fields), merge: false, lang, ifMatch: null };
  return write(ctx, id, change, Object.keys(fields));
}

/** Marks a product and its variants as deleted. Returns the id. Errors: notFound, preconditionFailed. */
export async function deleteProduct(ctx: Ctx, named: string, ifMatch: number | null): Promise<string> {
  const id = await findProductId(ctx, named);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()), ifMatch };
    const deleted = await get(tx.db, deleteProductRow, values);
    if (!deleted) throw (await get(tx.db, selectCurrent, values)) ? preconditionFailed() : notFound("product", id);
    if (deleted.hasVariants) await tx.db.batch(withDeferredSummaries([bind(deleteVariants, values)]));
    await recordEvent(tx, { type: "product.deleted", subject: id, data: { version: deleted.version } });
    return id;
  });
}

async function write(ctx: Ctx, named: string, given: ProductChange, fields?: string[]) {
  const id = await findProductId(ctx, named);
  const change = { ...given, columns: await resolveCategories(ctx, given.columns) };
  const { stock, priceMinor, compareAtMinor } = change.columns;
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id };
    const now = toTimestamp(tx.now());
    const before = stock === undefined ? undefined : await get(tx.db, selectCurrent, values);
    const updated = await updateProduct(tx, id, change, now);
    let product: RenderedProduct = updated;
    const data = { version: updated.version, fields };
    await recordEvent(tx, { type: "product.updated", subject: id, data, isShown: updated.isShown === 1 });
    if (updated.hasVariants && (priceMinor !== undefined || compareAtMinor !== undefined)) {
      const follow = bind(syncVariantPrices, { tenantId: tx.tenant.id, productId: id, id, now });
      const [, followed] = await tx.db.batch(withDeferredSummaries([follow]));
      // The product's JSON contains the variants' prices, so the product is read again.
      if (followed?.rows.length) product = await getProduct(tx, id, change.lang);
    }
    if (before && !before.hasVariants && before.stock !== stock) {
      await tx.db.execute(stockChanged(tx, { productId: id, variantId: null }, "edit", now));
    }
    return product;
  });
}
