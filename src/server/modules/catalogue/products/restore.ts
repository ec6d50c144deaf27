import { isNotNull, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, bind, get, ofStore, param, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { AppError, conflict, notFound } from "../../../errors.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { recordEvent } from "../../events/service.ts";
import { media } from "../../media/table.ts";
import { categories } from "../categories/table.ts";
import { withDeferredSummaries } from "../variants/variant-input.ts";
import type { RenderedProduct } from "./rendering.ts";
import { explainConflicts } from "./resolve.ts";
import { getProduct } from "./service.ts";
import { products, productVariants } from "./table.ts";

const isDeleted = sql`${ofStore(products)} and ${isNotNull(products.deletedAt)}`;
const name = param("name");
const isNamed = sql`${isDeleted} and (id = ${name} or slug = ${name} or lower(sku) = lower(${name}))`;
const { id, slug } = products;
const newest = sql`deleted_at desc, id desc`;
const selectNamed = statement((q) => q.select({ id, slug }).from(products).where(isNamed).orderBy(newest).limit(1));
const selectLast = statement((q) => q.select({ id, slug }).from(products).where(isDeleted).orderBy(newest).limit(10));

async function findDeleted(ctx: Ctx, named: string) {
  const values = { tenantId: ctx.tenant.id, name: named };
  const found = await get(ctx.db, selectNamed, values);
  if (found) return found;
  const last = (await all(ctx.db, selectLast, values)).map(({ slug }) => slug);
  const remedy = last.length === 0 ? "No product was deleted." : `Deleted last: ${last.join(", ")}`;
  throw notFound("deleted product", named, { in: `store ${JSON.stringify(ctx.tenant.namespace)}`, remedy });
}

// Pictures that were deleted meanwhile are left out. Setting `sku` runs the triggers that refuse a taken SKU.
const restored = sql`deleted_at = null, sku = sku, updated_at = ${param("now")}, version = version + 1,
  images = (select json_group_array(json(value)) from (select value from json_each(images) where value ->> 'media_id' is null
    or value ->> 'media_id' in (select id from ${media} where ${ofStore(media)}) order by key))`;
// Variants that were deleted before the product stay deleted.
const restoreVariants = statement(sql`update ${productVariants} set ${restored}
  where ${ofStore(productVariants)} and product_id = ${param("id")} and deleted_at = (
    select deleted_at from ${products} where ${isDeleted} and id = ${param("id")})`);
const restoreRow = statement(sql`update ${products} set ${restored}, category_ids = (
    select json_group_array(value) from (select value from json_each(category_ids)
      where value in (select id from ${categories} where ${ofStore(categories)}) order by key))
  where ${isDeleted} and id = ${param("id")}`);

export async function restoreProduct(ctx: Ctx, named: string): Promise<RenderedProduct> {
  const { id } = await findDeleted(ctx, named);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
    const statements = withDeferredSummaries([bind(restoreVariants, values), bind(restoreRow, values)]);
    await explainConflicts(tx, {}, () => tx.db.batch(statements)).catch((cause: unknown) => {
      if (!(cause instanceof AppError) || cause.kind !== "conflict") throw cause;
      const taken = cause.details?.[0]?.field === "slug" ? "slug" : "SKU";
      const message = `Product ${JSON.stringify(named)} cannot be restored: another product has its ${taken}.`;
      const remedy = `Change the ${taken} of the other product first: bodega product update`;
      throw conflict(message, { remedy, cause });
    });
    const product = await getProduct(tx, id);
    await recordEvent(tx, { type: "product.created", subject: id, data: { version: product.version } });
    return product;
  });
}
