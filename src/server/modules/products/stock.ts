import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField, outOfStock } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { compileEvent } from "../events/service.ts";
import { maxPieces } from "./most-pieces.ts";
import { products, productVariants } from "./table.ts";

/** What pieces are counted of: a product, or one of its variants. */
export interface StockItem {
  productId: string;
  /** Null for a product without variants. */
  variantId: string | null;
}

/** What somebody wants to order: a product by its id, or a variant by its own, with or without that of its product. */
export interface WantedItem {
  productId: string | null;
  variantId: string | null;
  quantity: number;
}

/** An item as it is sold now, for the snapshot on a line of an order. */
export interface ReservedItem extends StockItem {
  /** In the language of creation (`lang`); `translations` is the JSON text of the others. */
  title: string;
  lang: string;
  translations: string;
  variantTitle: string | null;
  sku: string | null;
  /** JSON text. */
  options: string;
  /** Address of the first picture. */
  image: string | null;
  priceMinor: number;
  currency: string;
  currencyDigits: number;
  /** Whether its pieces are counted; those of others are neither held nor booked. */
  isCounted: boolean;
}

type ItemRow = Omit<ReservedItem, "isCounted"> & { isCounted: number };

/** Why pieces move; events say it. */
export type StockReason = "order" | "cancel" | "expire" | "pay" | "restock" | "edit" | "repair";

/** What a transaction that moves pieces has to know. */
export type StockCtx = Pick<Ctx, "db" | "tenant" | "now">;

// Whether it can be ordered and whether enough is left are judged by the statement that holds the pieces, so that no
// two buyers can be told of the same last one.
const held = sql`reserved = reserved + case when stock is null then 0 else ${param("quantity")} end`;
const enough = sql`stock is null or stock - reserved >= ${param("quantity")}`;
const sold = sql`deleted_at is null and status = 'published' and currency = ${param("currency")}`;

const holdProduct = statement<ItemRow>(sql`
  update ${products} set ${held}
  where tenant_id = ${param("tenantId")} and id = ${param("productId")} and ${sold} and not has_variants
    and (allow_backorder or ${enough})
  returning id as productId, null as variantId, title, lang, translations, null as variantTitle, sku, '{}' as options,
    json_extract(images, '$[0].url') as image, price_minor as priceMinor, currency, currency_digits as currencyDigits,
    stock is not null as isCounted`);
const itsProduct = sql`from ${products} p where p.id = product_variants.product_id`;
const holdVariant = statement<ItemRow>(sql`
  update ${productVariants} set ${held}
  where tenant_id = ${param("tenantId")} and id = ${param("variantId")} and deleted_at is null
    and product_id = coalesce(${param("productId")}, product_id) and currency = ${param("currency")}
    and exists (select 1 ${itsProduct} and p.deleted_at is null and p.status = 'published')
    and (${enough} or (select p.allow_backorder ${itsProduct}))
  returning product_id as productId, id as variantId, (select p.title ${itsProduct}) as title,
    (select p.lang ${itsProduct}) as lang, (select p.translations ${itsProduct}) as translations,
    title as variantTitle, sku, options,
    (select json_extract(p.images, '$[0].url') ${itsProduct}) as image, price_minor as priceMinor, currency,
    currency_digits as currencyDigits, stock is not null as isCounted`);

interface Standing {
  currency: string;
  needsVariant: number;
  available: number | null;
}
const standingOfProduct = statement<Standing>(sql`
  select currency, has_variants as needsVariant, stock - reserved as available from ${products}
  where tenant_id = ${param("tenantId")} and id = ${param("productId")} and deleted_at is null and status = 'published'`);
const standingOfVariant = statement<Standing>(sql`
  select v.currency, 0 as needsVariant, v.stock - v.reserved as available from ${productVariants} v
  join ${products} p on p.id = v.product_id
  where v.tenant_id = ${param("tenantId")} and v.id = ${param("variantId")} and v.deleted_at is null
    and v.product_id = coalesce(${param("productId")}, v.product_id) and p.deleted_at is null and p.status = 'published'`);

/**
 * Holds pieces of an item for an order, inside its transaction, and answers what is sold. The caller records
 * `stockChanged` in its batch. Versions stay: what is on hand has not changed.
 * @param field where the item stands in the body, such as `items.0`.
 * @throws validationFailed for what is not sold (or only by variant), outOfStock when not enough is left.
 */
export async function reserve(tx: StockCtx, wanted: WantedItem, field = "items.0"): Promise<ReservedItem> {
  const { productId, variantId, quantity } = wanted;
  const values = { tenantId: tx.tenant.id, productId, variantId, quantity, currency: tx.tenant.currency };
  const item = await get(tx.db, variantId === null ? holdProduct : holdVariant, values);
  if (item) return { ...item, isCounted: item.isCounted === 1 };
  const standing = await get(tx.db, variantId === null ? standingOfProduct : standingOfVariant, values);
  throw refusal(standing, wanted, field, tx.tenant.currency);
}

function refusal(standing: Standing | undefined, wanted: WantedItem, field: string, currency: string): AppError {
  const name = `${field}.${wanted.variantId === null ? "product_id" : "variant_id"}`;
  if (!standing) return invalidField(name, "names nothing that is sold here");
  if (standing.needsVariant) return invalidField(`${field}.variant_id`, "is required: this product is sold by variant");
  if (standing.currency !== currency)
    return invalidField(name, `is priced in ${standing.currency}, not in ${currency}`);
  const left = Math.max(standing.available ?? 0, 0);
  const detail = { field: `${field}.quantity`, message: left === 0 ? "none is left" : `only ${left} left` };
  return outOfStock(`${detail.field}: ${detail.message}`, { details: [detail] });
}

const ofProduct = sql`tenant_id = ${param("tenantId")} and id = ${param("productId")}`;
const ofVariant = sql`tenant_id = ${param("tenantId")} and id = ${param("variantId")}`;
// A count that has drifted must not keep an order from being paid or cancelled; `bodega doctor` finds and mends it.
const free = sql`reserved = max(reserved - ${param("quantity")}, 0)`;
const touched = sql`version = version + 1, updated_at = ${param("now")}`;
const book = sql`stock = stock - ${param("quantity")}, ${free}, ${touched}`;
// At the limit a refund must not fail: what does not fit is not counted, and what lies above it stays.
const most = sql.raw(String(maxPieces));
const putBack = sql`stock = max(stock, min(stock + ${param("quantity")}, ${most})), ${touched}`;

const moves = {
  release: [
    statement(sql`update ${products} set ${free} where ${ofProduct}`),
    statement(sql`update ${productVariants} set ${free} where ${ofVariant}`),
  ],
  commit: [
    statement(sql`update ${products} set ${book} where ${ofProduct}`),
    statement(sql`update ${productVariants} set ${book} where ${ofVariant}`),
  ],
  restock: [
    statement(sql`update ${products} set ${putBack} where ${ofProduct}`),
    statement(sql`update ${productVariants} set ${putBack} where ${ofVariant}`),
  ],
} as const;
const touchProduct = statement(sql`update ${products} set ${touched} where ${ofProduct}`);

const subject = sql`${param("productId")}`;
const type = sql`'stock.changed'`;
// Nothing is left of what was deleted, though orders that hold pieces of it still move them.
const left = sql`case when deleted_at is null or stock is null then stock else 0 end`;
const data = sql`json_object('product_id', ${param("productId")}, 'variant_id', ${param("variantId")}, 'stock', ${left},
  'reserved', reserved, 'reason', ${param("reason")})`;
const productEvent = compileEvent({ type, subject, data, from: sql`from ${products} where ${ofProduct}` });
const variantEvent = compileEvent({ type, subject, data, from: sql`from ${productVariants} where ${ofVariant}` });

/** The event of what has just moved, for a batch. */
export function stockChanged(tx: StockCtx, item: StockItem, reason: StockReason): InStatement {
  const { productId, variantId } = item;
  const values = { tenantId: tx.tenant.id, productId, variantId, reason };
  return bind(variantId === null ? productEvent : variantEvent, {
    ...values,
    eventId: newId("evt"),
    now: toTimestamp(tx.now()),
  });
}

/**
 * Statements that move pieces of a counted item, with their event, for a batch in the transaction of an order:
 * `release` gives held pieces free, `commit` takes paid ones off the stock, `restock` puts refunded ones back. The last
 * two move the versions.
 */
export function moveStock(
  tx: StockCtx,
  kind: keyof typeof moves,
  item: StockItem,
  quantity: number,
  reason: StockReason,
): InStatement[] {
  const { productId, variantId } = item;
  const values = { tenantId: tx.tenant.id, productId, variantId, quantity, now: toTimestamp(tx.now()) };
  const [product, variant] = moves[kind];
  const statements = [bind(variantId === null ? product : variant, values)];
  if (variantId !== null && kind !== "release") statements.push(bind(touchProduct, values));
  return [...statements, stockChanged(tx, item, reason)];
}

/** Gives held pieces free, inside a transaction. */
export async function release(tx: StockCtx, item: StockItem, quantity: number, reason: StockReason): Promise<void> {
  await tx.db.batch(moveStock(tx, "release", item, quantity, reason));
}

/** Takes held pieces off the stock for good, inside a transaction. */
export async function commitStock(tx: StockCtx, item: StockItem, quantity: number): Promise<void> {
  await tx.db.batch(moveStock(tx, "commit", item, quantity, "pay"));
}

/** Puts pieces back on the stock, inside a transaction. */
export async function restock(tx: StockCtx, item: StockItem, quantity: number): Promise<void> {
  await tx.db.batch(moveStock(tx, "restock", item, quantity, "restock"));
}
