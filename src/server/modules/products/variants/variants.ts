import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { bind, get, param, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { type AppError, notFound, preconditionFailed, wrongState } from "../../../errors.ts";
import { isId, newId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { compileEvent } from "../../events/service.ts";
import { indexProduct } from "../list/search.ts";
import type { Rendered } from "../rendering.ts";
import { seesDrafts } from "../service.ts";
import { stockChanged } from "../stock.ts";
import { products, productVariants } from "../table.ts";
import { explaining, noSuchProduct, requireProductId } from "../transfer/refusal.ts";
import { completeVariant, notOwn, titleFrom, type VariantColumns, variantColumns } from "./variant-input.ts";
import { insertVariant, maxVariants } from "./variant-insert.ts";
import type { VariantInput, VariantPatch } from "./variant-model.ts";
import { changedNames, livingVariant as living, ofProduct, updateVariantStatement } from "./variant-statement.ts";

const seen = sql`(${param("seesDrafts")} or status = 'published')`;

const selectVariants = statement<{ json: string }>(sql`
  select variants as json from ${products} where ${ofProduct} and ${seen}`);
const selectVariant = statement<Rendered>(sql`
  select rendered as json, version from ${productVariants} where ${living}
    and exists (select 1 from ${products} where ${ofProduct} and ${seen})`);
const selectStock = statement<{ stock: number | null; version: number }>(sql`
  select stock, version from ${productVariants} where ${living}
    and exists (select 1 from ${products} where ${ofProduct})`);
const deleteVariantRow = statement<{ stock: number | null }>(sql`
  update ${productVariants} set deleted_at = ${param("now")}, updated_at = ${param("now")}, version = version + 1
  where ${living} and version = coalesce(${param("ifMatch")}, version)
    and exists (select 1 from ${products} where ${ofProduct})
  returning stock`);
const touchProduct = statement(sql`
  update ${products} set version = version + 1, updated_at = ${param("now")} where ${ofProduct}`);
const productUpdated = compileEvent({
  type: sql`'product.updated'`,
  subject: sql`id`,
  data: sql`json_object('version', version, 'fields', json('["variants"]'))`,
  from: sql`from ${products} where ${ofProduct}`,
});

/**
 * The variants of a product in their order, as a JSON array; customers see those of published products only.
 * @throws notFound.
 */
export async function listVariants(ctx: Ctx, productId: string): Promise<string> {
  requireProductId(productId);
  const row = await get(ctx.db, selectVariants, { ...idsOf(ctx, productId), seesDrafts: seesDrafts(ctx) ? 1 : 0 });
  if (!row) throw noSuchProduct();
  return row.json;
}

/** One variant of a product; customers see those of published products only. Errors: notFound. */
export async function getVariant(ctx: Ctx, productId: string, variantId: string): Promise<Rendered> {
  requireIds(productId, variantId);
  const values = { ...idsOf(ctx, productId, variantId), seesDrafts: seesDrafts(ctx) ? 1 : 0 };
  const variant = await get(ctx.db, selectVariant, values);
  if (!variant) throw noSuchVariant();
  return variant;
}

/**
 * Adds a variant to a product, which from its first one on is sold by variant only. Its price is the product's, and
 * follows it, unless given; its place is after the others.
 * @throws notFound, validationFailed, conflict for options or a SKU that are taken, wrongState when there are as many as can be.
 */
export async function addVariant(ctx: Ctx, productId: string, input: VariantInput): Promise<Rendered> {
  requireProductId(productId);
  const variantId = newId("var");
  const row = { id: variantId, ...completeVariant(variantColumns(ctx, input)) };
  return inTransaction(ctx, async (tx) => {
    const variant = await explaining(() => insertVariant(tx, productId, row));
    if (variant) {
      await finishWrite(tx, productId, row.stock === null ? undefined : { productId, variantId });
      await indexProduct(tx, productId);
      return variant;
    }
    const product = await get(tx.db, selectVariants, { ...idsOf(tx, productId), seesDrafts: 1 });
    throw product ? wrongState(`A product has at most ${maxVariants} variants.`) : noSuchProduct();
  });
}

/**
 * Replaces every field of a variant but its place, which stays unless given; its price goes back to the product's.
 * @param ifMatch the variant's version that must stand; null for any.
 * @throws notFound, preconditionFailed, validationFailed, conflict.
 */
export async function replaceVariant(
  ctx: Ctx,
  productId: string,
  variantId: string,
  input: VariantInput,
  ifMatch: number | null,
): Promise<Rendered> {
  return update(ctx, productId, variantId, completeVariant(variantColumns(ctx, input)), ifMatch);
}

/**
 * Changes the fields given. New options bring a new title where the old one was made from the old options.
 * @param ifMatch the variant's version that must stand; null for any.
 * @throws notFound, preconditionFailed, validationFailed, conflict.
 */
export async function patchVariant(
  ctx: Ctx,
  productId: string,
  variantId: string,
  patch: VariantPatch,
  ifMatch: number | null,
): Promise<Rendered> {
  return update(ctx, productId, variantId, variantColumns(ctx, patch), ifMatch);
}

/**
 * Takes a variant out of the store. Its row stays for the orders that name it; its SKU and options are free again.
 * With the last one gone the product is sold by its own stock.
 * @throws notFound, preconditionFailed.
 */
export async function deleteVariant(
  ctx: Ctx,
  productId: string,
  variantId: string,
  ifMatch: number | null,
): Promise<void> {
  requireIds(productId, variantId);
  return inTransaction(ctx, async (tx) => {
    const values = { ...idsOf(tx, productId, variantId), now: toTimestamp(tx.now()), ifMatch };
    const gone = await get(tx.db, deleteVariantRow, values);
    if (!gone) throw await whyNot(tx, productId, variantId, ifMatch);
    await finishWrite(tx, productId, gone.stock === null ? undefined : { productId, variantId });
    await indexProduct(tx, productId);
  });
}

function update(
  ctx: Ctx,
  productId: string,
  variantId: string,
  columns: VariantColumns,
  ifMatch: number | null,
): Promise<Rendered> {
  requireIds(productId, variantId);
  const names = changedNames(columns);
  const price = columns.priceMinor === undefined ? "same" : columns.priceMinor === null ? "product" : "own";
  return inTransaction(ctx, async (tx) => {
    const ids = idsOf(tx, productId, variantId);
    const before = columns.stock === undefined ? undefined : await get(tx.db, selectStock, ids);
    const madeTitle = columns.options === undefined ? null : titleFrom(columns.options).slice(0, 300) || null;
    const values = { ...columns, ...ids, madeTitle, now: toTimestamp(tx.now()), ifMatch };
    const variant = await explaining(() => get(tx.db, updateVariantStatement(names, price), values));
    if (!variant) throw await whyNot(tx, productId, variantId, ifMatch);
    const item = before && before.stock !== columns.stock ? { productId, variantId } : undefined;
    await finishWrite(tx, productId, item);
    if (columns.title !== undefined || columns.sku !== undefined || madeTitle !== null)
      await indexProduct(tx, productId);
    return variant;
  });
}

/** What goes with every write of a variant: the product's version and event, and that of pieces that were edited. */
async function finishWrite(tx: Ctx, productId: string, edited?: { productId: string; variantId: string }) {
  const values = { ...idsOf(tx, productId), now: toTimestamp(tx.now()) };
  const statements = [bind(touchProduct, values), bind(productUpdated, { ...values, eventId: newId("evt") })];
  if (edited) statements.push(stockChanged(tx, edited, "edit"));
  await tx.db.batch(statements);
}

async function whyNot(tx: Ctx, productId: string, variantId: string, ifMatch: number | null): Promise<AppError> {
  const variant = await get(tx.db, selectStock, idsOf(tx, productId, variantId));
  if (!variant) return noSuchVariant();
  return ifMatch !== null && ifMatch !== variant.version ? preconditionFailed() : notOwn();
}

function idsOf(ctx: Ctx, productId: string, variantId: string | null = null) {
  return { tenantId: ctx.tenant.id, productId, variantId };
}

function requireIds(productId: string, variantId: string): void {
  requireProductId(productId);
  if (!isId("var", variantId)) throw noSuchVariant();
}

function noSuchVariant(): AppError {
  return notFound("variant");
}
