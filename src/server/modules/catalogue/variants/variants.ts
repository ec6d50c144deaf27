import type { InStatement } from "@libsql/core/api";
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { bind, compiledOnce, get, isVersion, ofStoreNotDeleted, param, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { type AppError, notFound, preconditionFailed, wrongState } from "../../../errors.ts";
import { isId, newId, toTimestamp } from "../../../values/stamps.ts";
import { compileEvent } from "../../events/service.ts";
import { withSizes } from "../products/images.ts";
import { columnName, columnsOf, type VariantColumns } from "../products/input.ts";
import { maxVariants, type VariantInput } from "../products/model.ts";
import type { Rendered } from "../products/rendering.ts";
import { audienceOf, forEachAudience, isChangeShown, stockVersion, variantViews } from "../products/rendering.ts";
import { explainConflicts, findProductId } from "../products/resolve.ts";
import { hideVersion, stockChanged, touchProduct } from "../products/stock.ts";
import { products, productVariants } from "../products/table.ts";
import {
  completeVariant,
  inheritedPriceError,
  insertVariants,
  newVariants,
  titleFrom,
  variantColumns,
} from "./variant-input.ts";

const ofProduct = and(ofStoreNotDeleted(products), eq(products.id, param("productId")));
const seen = { staff: sql`true`, public: sql`status = 'published'` };
const ofVariant = (
  audience: keyof typeof seen,
) => sql`${ofStoreNotDeleted(productVariants)} and id = ${param("variantId")}
  and product_id = ${param("productId")} and exists (select 1 from ${products} where ${ofProduct} and ${seen[audience]})`;

export const priceColumns = sql.raw("(price_minor, compare_at_minor, currency, currency_digits)");
export const productPrice = sql`(
  select price_minor, compare_at_minor, currency, currency_digits from ${products} where ${ofProduct})`;

type Name = keyof VariantColumns;

const ofPrice: readonly Name[] = ["priceMinor", "compareAtMinor", "currency", "currencyDigits"];

type PriceChange = "own" | "product" | "same";

/** Compiles an update. `price`: whether the variant gets its own price, the product's price, or keeps what it has. */
function compileUpdate(names: Name[], price: PriceChange) {
  const given = names.filter((name) => price === "own" || !ofPrice.includes(name));
  const changes = given.map(
    (name) => sql`${columnName(name)} = ${name === "images" ? withSizes(param(name)) : param(name)}`,
  );
  changes.push(...priceChanges(price, names.includes("compareAtMinor")));
  if (names.includes("options") && !names.includes("title")) {
    const made = sql`select group_concat(value, ' / ') from (select value from json_each(options) order by id)`;
    changes.push(sql`title = case when title = (${made}) then coalesce(${param("madeTitle")}, title) else title end`);
  }
  // A compare-at price requires that the variant has its own price. For other variants, null changes nothing.
  const isGuarded = price === "same" && names.includes("compareAtMinor");
  const guard = isGuarded ? sql`and (has_own_price or ${param("compareAtMinor")} is null)` : sql``;
  const version =
    names.join() === "stock"
      ? stockVersion(sql`${param("stock")} - reserved`)
      : sql`version = version + 1, updated_at = ${param("now")}`;
  return statement<Rendered>(sql`
    update ${productVariants} set ${sql.join([...changes, version], sql`, `)}
    where ${ofVariant("staff")} and ${isVersion(productVariants)} ${guard}
    returning rendered as json, version`);
}

function priceChanges(price: PriceChange, isCompared: boolean): SQL[] {
  if (price === "product") return [sql`has_own_price = 0`, sql`${priceColumns} = ${productPrice}`];
  if (price === "same") {
    const compared = sql`case when has_own_price then ${param("compareAtMinor")} else compare_at_minor end`;
    return isCompared ? [sql`compare_at_minor = ${compared}`] : [];
  }
  // A variant that gets its own price loses a compare-at price that was copied from the product.
  const kept = sql`compare_at_minor = case when has_own_price then compare_at_minor end`;
  return [sql`has_own_price = 1`, ...(isCompared ? [] : [kept])];
}

const columns = { staff: products.variants, public: products.catalogVariants };
const selectVariants = forEachAudience((audience) =>
  statement((q) => q.select({ json: columns[audience] }).from(products).where(and(ofProduct, seen[audience]))),
);
const selectVariant = forEachAudience((audience) =>
  statement((q) => q.select(variantViews[audience]).from(productVariants).where(ofVariant(audience))),
);
const stock = { stock: productVariants.stock, version: productVariants.version };
const selectStock = statement((q) => q.select(stock).from(productVariants).where(ofVariant("staff")));
export const deletion = { deletedAt: param("now"), updatedAt: param("now"), version: sql`version + 1` };
const deletable = and(ofVariant("staff"), isVersion(productVariants));
const deleteVariantRow = statement((q) => q.update(productVariants).set(deletion).where(deletable).returning(stock));
const productUpdated = compileEvent({
  type: sql`'product.updated'`,
  subject: param("productId"),
  data: sql`json_object('version', version, 'fields', json('["variants"]'))`,
  from: sql`${products} where ${ofProduct}`,
  isShown: isChangeShown,
});

type VariantIds = Record<"productId" | "variantId", string>;
type Written = VariantIds & Record<"tenantId" | "now", string>;

export async function listVariants(ctx: Ctx, named: string): Promise<string> {
  const productId = await findProductId(ctx, named);
  const row = await get(ctx.db, selectVariants[audienceOf(ctx)], { tenantId: ctx.tenant.id, productId });
  if (!row) throw notFound("product", named);
  return row.json;
}

export async function getVariant(ctx: Ctx, named: VariantIds): Promise<Rendered> {
  const ids = await findIds(ctx, named);
  const variant = await get(ctx.db, selectVariant[audienceOf(ctx)], ids);
  if (!variant) throw notFound("variant", ids.variantId);
  return variant;
}

export async function addVariant(ctx: Ctx, named: string, input: VariantInput): Promise<Rendered> {
  const ids = { tenantId: ctx.tenant.id, productId: await findProductId(ctx, named), variantId: newId("var") };
  const row = { id: ids.variantId, ...completeVariant(variantColumns(ctx, input)) };
  return inTransaction(ctx, async (tx) => {
    const values = newVariants(tx, ids.productId, [row]);
    const variant = await explainConflicts(tx, row, () => get(tx.db, insertVariants, values));
    if (variant) {
      await finishWrite(tx, touchProduct, { ...ids, now: toTimestamp(tx.now()) }, row.stock !== null);
      return variant;
    }
    if (!(await get(tx.db, selectVariants.staff, ids))) throw notFound("product", ids.productId);
    throw wrongState(`Product ${ids.productId} already has ${maxVariants} variants, the maximum.`);
  });
}

export async function deleteVariant(ctx: Ctx, named: VariantIds, ifMatch: number | null): Promise<void> {
  const ids = await findIds(ctx, named);
  return inTransaction(ctx, async (tx) => {
    const values = { ...ids, now: toTimestamp(tx.now()), ifMatch };
    const deleted = await get(tx.db, deleteVariantRow, values);
    if (!deleted) throw await failedWriteError(tx, ids, ifMatch);
    await finishWrite(tx, touchProduct, values, deleted.stock !== null);
  });
}

/** Changes the given fields. New options also change a title that was made from the old options. */
export async function patchVariant(ctx: Ctx, named: VariantIds, patch: VariantInput, ifMatch: number | null) {
  const columns = variantColumns(ctx, patch);
  const ids = await findIds(ctx, named);
  const names = columnsOf(columns);
  const price = columns.priceMinor === undefined ? "same" : columns.priceMinor === null ? "product" : "own";
  return inTransaction(ctx, async (tx) => {
    const before = columns.stock === undefined ? undefined : await get(tx.db, selectStock, ids);
    const madeTitle = columns.options === undefined ? null : titleFrom(columns.options).slice(0, 300) || null;
    const values = { ...columns, ...ids, madeTitle, now: toTimestamp(tx.now()), ifMatch };
    const update = compiledOnce(`update variant ${price} ${names.join(" ")}`, () => compileUpdate(names, price));
    const variant = await explainConflicts(tx, columns, () => get(tx.db, update, values));
    if (!variant) throw await failedWriteError(tx, ids, ifMatch);
    await finishWrite(tx, hideVersion, values, before !== undefined && before.stock !== columns.stock);
    return variant;
  });
}

/** Runs `touch` on the product and records `product.updated`; if stock was edited, also records `stock.changed`. */
async function finishWrite(tx: Ctx, touch: typeof touchProduct, values: Written, isStockEdited: boolean) {
  const statements: InStatement[] = [bind(touch, values), bind(productUpdated, { ...values, eventId: newId("evt") })];
  if (isStockEdited) statements.push(stockChanged(tx, values, "edit", values.now));
  await tx.db.batch(statements);
}

async function failedWriteError(tx: Ctx, ids: VariantIds, ifMatch: number | null): Promise<AppError> {
  const variant = await get(tx.db, selectStock, ids);
  if (!variant) return notFound("variant", ids.variantId);
  return ifMatch !== null && ifMatch !== variant.version ? preconditionFailed() : inheritedPriceError();
}

async function findIds(ctx: Ctx, { variantId, ...named }: VariantIds) {
  const productId = await findProductId(ctx, named.productId);
  if (!isId("var", variantId)) throw notFound("variant", variantId);
  return { tenantId: ctx.tenant.id, productId, variantId };
}
