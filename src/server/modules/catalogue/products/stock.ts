import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { bind, bindFirst, get, param, run, statement } from "../../../db/statement.ts";
import { type AppError, fieldError, invalidField, outOfStock } from "../../../errors.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { compileEvent } from "../../events/service.ts";
import { withDeferredSummaries } from "../variants/variant-input.ts";
import { maxStock } from "./model.ts";
import { isChangeShown, maxShownStock, stockVersion } from "./rendering.ts";
import { products, productVariants } from "./table.ts";

export const notForSale = {
  productId: "must be the id of a product (prod_…), not its slug",
  product: "is not a published product of this store",
  variant: "is not a variant of a published product of this store",
} as const;

export interface StockItem {
  productId: string;
  variantId: string | null;
}

/** A product or variant to order. A variant may have no `productId`. `field` names the item in errors, as `items.0`. */
export type WantedItem = Record<keyof StockItem, string | null> & { field: string; quantity: number };

type Row = typeof products.$inferSelect;
/** The texts are in the language `lang`; `translations` is JSON. `weight` is that of one piece, in grams. */
type ItemRow = StockItem &
  Pick<Row, "title" | "lang" | "translations" | "sku" | "priceMinor" | "currency" | "taxClass"> &
  Record<"variantTitle" | "image", string | null> &
  Record<"isCounted" | "requiresShipping" | "needsVariant" | "allowsBackorder", number> &
  Record<"available" | "weight", number | null> & { options: string };
export type OrderedItem = Omit<ItemRow, "isCounted" | "requiresShipping"> &
  Record<"isCounted" | "requiresShipping", boolean> & { quantity: number };

type MovedItem = StockItem & { quantity: number };
export type StockReason = "order" | "cancel" | "expire" | "pay" | "restock" | "edit";

type StockCtx = Pick<Ctx, "db" | "tenant" | "now">;

const selectProduct = statement<ItemRow>(sql`
  select id as productId, null as variantId, title, lang, translations, null as variantTitle, sku, '{}' as options,
    json_extract(images, '$[0].url') as image, price_minor as priceMinor, currency, stock is not null as isCounted,
    has_variants as needsVariant, allow_backorder as allowsBackorder, stock - reserved as available,
    tax_class as taxClass, requires_shipping as requiresShipping, weight_g as weight
  from ${products}
  where tenant_id = ${param("tenantId")} and id = ${param("productId")} and deleted_at is null and status = 'published'`);
const selectVariant = statement<ItemRow>(sql`
  select v.product_id as productId, v.id as variantId, p.title, p.lang, p.translations, v.title as variantTitle, v.sku,
    v.options, json_extract(p.images, '$[0].url') as image, v.price_minor as priceMinor, v.currency,
    v.stock is not null as isCounted, 0 as needsVariant, p.allow_backorder as allowsBackorder,
    v.stock - v.reserved as available, p.tax_class as taxClass, p.requires_shipping as requiresShipping,
    coalesce(v.weight_g, p.weight_g) as weight
  from ${productVariants} v join ${products} p on p.id = v.product_id
  where v.tenant_id = ${param("tenantId")} and v.id = ${param("variantId")} and v.deleted_at is null
    and v.product_id = coalesce(${param("productId")}, v.product_id) and p.deleted_at is null and p.status = 'published'`);

/**
 * Finds the items of an order, in the transaction that reserves them.
 * @throws validationFailed for an item that cannot be ordered, or that must be ordered as a variant; outOfStock.
 */
export async function findItems(tx: Ctx, wanted: readonly WantedItem[]): Promise<OrderedItem[]> {
  const reads = wanted.map(({ productId, variantId }) => {
    const values = { tenantId: tx.tenant.id, productId, variantId };
    return bindFirst(variantId === null ? selectProduct : selectVariant, values);
  });
  const results = await tx.db.batch(reads);
  return wanted.map((one, index) => {
    const row = results[index]?.rows[0] as unknown as ItemRow | undefined;
    const isEnough = row && (row.available === null || row.allowsBackorder || row.available >= one.quantity);
    if (!row || row.needsVariant || row.currency !== tx.tenant.currency || !isEnough)
      throw orderItemError(tx, row, one);
    const { isCounted, requiresShipping } = row;
    return { ...row, isCounted: isCounted === 1, requiresShipping: requiresShipping === 1, quantity: one.quantity };
  });
}

function orderItemError(tx: Ctx, found: ItemRow | undefined, wanted: WantedItem): AppError {
  const { currency } = tx.tenant;
  const { field } = wanted;
  const name = `${field}.${wanted.variantId === null ? "product_id" : "variant_id"}`;
  if (!found && wanted.variantId !== null && wanted.productId !== null)
    return invalidField(name, "is not a variant of this product, or the product is not published");
  if (!found) return invalidField(name, notForSale[wanted.variantId === null ? "product" : "variant"]);
  if (found.needsVariant) return invalidField(`${field}.variant_id`, "is required, because this product has variants");
  if (found.currency !== currency)
    return invalidField(name, `has a price in ${found.currency}, but the store sells in ${currency}`);
  const left = Math.max(found.available ?? 0, 0);
  const message = left === 0 ? "is out of stock" : `only ${left} in stock`;
  if (left <= maxShownStock) return fieldError(outOfStock, `${field}.quantity`, message);
  return shortage(tx, `${field}.quantity`, message);
}

/** Returns outOfStock. Its message reveals the stock only to callers who may see the exact stock. */
export function shortage(ctx: Ctx, field: string, message: string): AppError {
  return fieldError(outOfStock, field, isCatalogOnly(ctx) ? "is more than can be ordered now" : message);
}

const ofProduct = sql`tenant_id = ${param("tenantId")} and id = ${param("productId")}`;
const ofVariant = sql`tenant_id = ${param("tenantId")} and id = ${param("variantId")}`;
// This needs no condition on the stock: `findItems` checks the stock in the same transaction.
const reserved = sql`(reserved + ${param("quantity")})`;
const reserve = sql`reserved = ${reserved}, ${stockVersion(sql`stock - ${reserved}`, 0)}`;
// A wrong `reserved` must not block a payment or cancellation, so it never falls below 0. `bodega doctor` corrects it.
const unreserved = sql`max(reserved - ${param("quantity")}, 0)`;
const unreserve = sql`reserved = ${unreserved}, ${stockVersion(sql`stock - ${unreserved}`, 0)}`;
const sold = sql`stock - ${param("quantity")}`;
const sell = sql`stock = ${sold}, reserved = ${unreserved}, ${stockVersion(sql`${sold} - ${unreserved}`)}`;
// A refund must not fail because of the maximum stock, so pieces above the maximum are not counted.
const max = sql.raw(String(maxStock));
const more = sql`max(stock, min(stock + ${param("quantity")}, ${max}))`;
const putBack = sql`stock = ${more}, ${stockVersion(sql`${more} - reserved`)}`;

const kindOf = ({ variantId }: StockItem) => (variantId === null ? "product" : "variant");
const move = (set: SQL) => ({
  product: statement(sql`update ${products} set ${set} where ${ofProduct}`),
  variant: statement(sql`update ${productVariants} set ${set} where ${ofVariant}`),
});
const moves = { reserve: move(reserve), release: move(unreserve), commit: move(sell), restock: move(putBack) };
export const touchProduct = statement(sql`
  update ${products} set version = version + 1, updated_at = ${param("now")} where ${ofProduct}`);
/** Increases a product's version, but not the public version, which a trigger increases if the public sees a change. */
export const hideVersion = statement(sql`
  update ${products} set version = version + 1, hidden_versions = hidden_versions + 1 where ${ofProduct}`);

// With `isRelative`, adds the amount, but removes no stock that orders reserve. Otherwise the amount is the new stock.
const edited = sql`iif(${param("isRelative")}, stock, 0) + ${param("amount")}`;
const edit = sql`stock = ${edited}, ${stockVersion(sql`${edited} - reserved`)}`;
const editable = sql`deleted_at is null and ${edited} <= ${max}
  and (not ${param("isRelative")} or ${param("amount")} > 0 or stock - reserved + ${param("amount")} >= 0)`;
const edits = {
  product: statement(sql`update ${products} set ${edit} where ${ofProduct} and not has_variants and ${editable}`),
  variant: statement(sql`update ${productVariants} set ${edit} where ${ofVariant} and ${editable}`),
};

const selectFree = statement<{ free: number | null; hasVariants: number }>(sql`
  select stock - reserved as free, has_variants as hasVariants from ${products}
  where ${ofProduct} and ${param("variantId")} is null
  union all select stock - reserved, 0 from ${productVariants} where ${ofVariant}`);

/** Adds to the stock of an item, or sets it. Errors: validationFailed if the stock is not counted or out of range. */
export async function changeStock(tx: StockCtx, item: StockItem, change: { isRelative: boolean; amount: number }) {
  const values = { ...item, ...change, tenantId: tx.tenant.id, now: toTimestamp(tx.now()) };
  if ((await run(tx.db, edits[kindOf(item)], values)) > 0) {
    if (item.variantId !== null) await run(tx.db, hideVersion, values);
    return tx.db.execute(stockChanged(tx, item, "edit", values.now));
  }
  const found = await get(tx.db, selectFree, values);
  if (found?.hasVariants) throw invalidField("product", "has variants. Name one of them by its id or SKU");
  if (found?.free === null) throw invalidField("change", "must be a number such as =10: the stock is not counted yet");
  const free = found?.free ?? 0;
  throw invalidField("change", `must leave 0 to ${maxStock} pieces. ${free} pieces are not reserved by orders`);
}

// Orders also release the reserved stock of deleted items. The event then shows a stock of 0.
const remaining = sql`case when deleted_at is null or stock is null then stock else 0 end`;
const event = {
  type: sql`'stock.changed'`,
  subject: param("productId"),
  data: sql`json_object('product_id', ${param("productId")}, 'variant_id', ${param("variantId")},
    'stock', ${remaining}, 'reserved', reserved, 'reason', ${param("reason")})`,
  isShown: isChangeShown,
};
const events = {
  product: compileEvent({ ...event, from: sql`${products} where ${ofProduct}` }),
  variant: compileEvent({ ...event, from: sql`${productVariants} where ${ofVariant}` }),
};

export function stockChanged(tx: StockCtx, item: StockItem, reason: StockReason, now: string): InStatement {
  return bind(events[kindOf(item)], { ...item, tenantId: tx.tenant.id, reason, eventId: newId("evt"), now });
}

/**
 * Returns statements that change the stock of an order's counted items and record events. `release` undoes `reserve`;
 * `commit` removes sold stock; `restock` adds refunded stock. `commit` and `restock` also increase the version of each
 * product.
 */
export function moveStock(tx: StockCtx, kind: keyof typeof moves, items: MovedItem[], reason: StockReason) {
  const values = { tenantId: tx.tenant.id, now: toTimestamp(tx.now()) };
  const moved = items.flatMap((item) => [
    bind(moves[kind][kindOf(item)], { ...values, ...item }),
    stockChanged(tx, item, reason, values.now),
  ]);
  const parents = items.flatMap(({ productId, variantId }) => (variantId === null ? [] : [productId]));
  const versioned = kind === "commit" || kind === "restock" ? [...new Set(parents)] : [];
  const statements = [...moved, ...versioned.map((productId) => bind(hideVersion, { ...values, productId }))];
  return parents.length > 1 ? withDeferredSummaries(statements) : statements;
}
