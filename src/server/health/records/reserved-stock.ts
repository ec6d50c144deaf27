import { sql } from "drizzle-orm";
import { all, type CompiledStatement, statement } from "../../db/statement.ts";
import { orderLines, orders } from "../../modules/orders/table.ts";
import { type StockItem, stockChanged } from "../../modules/products/stock.ts";
import { products, productVariants } from "../../modules/products/table.ts";
import { type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";
import { isCoherent } from "./order-states.ts";

const held = sql`select l.product_id, l.variant_id, sum(l.quantity) as pieces
  from ${orders} o join ${orderLines} l on l.order_id = o.id
  where o.status = 'pending' and ${isCoherent("o")} and l.is_counted and ${inScope("o")} group by l.product_id, l.variant_id`;
const productHeld = sql`${products} i left join held h on h.product_id = i.id and h.variant_id is null`;
const variantHeld = sql`${productVariants} i left join held h on h.variant_id = i.id`;
// An order with contradicting statuses may or may not reserve stock.
const doubtful = sql`select l.product_id, l.variant_id from ${orders} o join ${orderLines} l on l.order_id = o.id
  where not ${isCoherent("o")} and l.is_counted and ${inScope("o")}`;
const isCertain = sql`not exists (
  select 1 from doubtful d where d.product_id = i.id and d.variant_id is null or d.variant_id = i.id)`;
const differs = sql`i.reserved <> coalesce(h.pieces, 0)`;
const finding = sql`i.tenant_id, i.id as record, 'reserved' as field, i.reserved as found,
  coalesce(h.pieces, 0) as expected, ${isCertain} as fixable`;

const select = statement<Inconsistency>(sql`
  with held as (${held}), doubtful as materialized (${doubtful})
  select ${finding} from ${productHeld} where ${differs} and ${inScope("i")}
  union all select ${finding} from ${variantHeld} where ${differs} and ${inScope("i")}`);
const fixProducts: CompiledStatement<StockItem> = statement(sql`
  update ${products} set reserved = r.pieces
  from (with held as (${held}) select i.id, coalesce(h.pieces, 0) as pieces from ${productHeld}
    where ${isNamed("i")} and ${differs}) r
  where ${products}.id = r.id returning id as productId, null as variantId`);
const fixVariants: CompiledStatement<StockItem> = statement(sql`
  update ${productVariants} set reserved = r.pieces
  from (with held as (${held}) select i.id, coalesce(h.pieces, 0) as pieces from ${variantHeld}
    where ${isNamed("i")} and ${differs}) r
  where ${productVariants}.id = r.id returning product_id as productId, id as variantId`);

/** The reserved stock of products and variants is that of the pending orders. */
export const reservedStock: RecordCheck = {
  id: "stock",
  remedy: "First correct the orders with contradicting statuses; then the doctor can compute the reserved stock.",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  async fix(tx, targets, tenant) {
    if (tenant === null) return 0;
    const items: StockItem[] = [];
    // What pending orders hold is added up anew for each statement.
    for (const [areVariants, named] of Map.groupBy(targets, (id) => id.startsWith("var_"))) {
      const values = { tenantId: tenant.id, ids: JSON.stringify(named) };
      items.push(...(await all(tx.db, areVariants ? fixVariants : fixProducts, values)));
    }
    if (items.length > 0) await tx.db.batch(items.map((item) => stockChanged({ ...tx, tenant }, item, "repair")));
    return items.length;
  },
};
