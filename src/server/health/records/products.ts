import { type SQL, sql } from "drizzle-orm";
import { param, run, statement } from "../../db/statement.ts";
import { productJson, variantJson, variantViews } from "../../modules/catalogue/products/rendering.ts";
import { products, productsToIndex, productVariants } from "../../modules/catalogue/products/table.ts";
import { orderLines, orders } from "../../modules/orders/table.ts";
import { differences, inScope, recordCheck, rowOf } from "./check.ts";
import { isCoherent } from "./orders.ts";

const counted = sql`${orders} o join ${orderLines} l on l.order_id = o.id where l.is_counted and ${inScope("o")}`;

/** SQL for items whose reserved stock differs from that of the orders that `isHolder` selects from `held`. */
function wrongStock(table: typeof products | typeof productVariants, isHolder: SQL, target: SQL): SQL {
  // An order with contradicting statuses may or may not reserve stock.
  return sql`select i.tenant_id, i.id as record, 'reserved' as field, i.reserved as found,
      coalesce(h.pieces, 0) as expected, iif(h.is_doubtful, null, ${target}) as target
    from ${table} i left join held h on ${isHolder} where i.reserved <> coalesce(h.pieces, 0) and ${inScope("i")}`;
}

export const reservedStock = recordCheck({
  remedy: "First correct the orders with contradicting statuses; then the doctor can compute the reserved stock.",
  select: sql`
    with held as (
      select l.product_id, l.variant_id, max(not ${isCoherent("o")}) as is_doubtful,
        sum(iif(o.status = 'pending' and ${isCoherent("o")}, l.quantity, 0)) as pieces
      from ${counted} group by l.product_id, l.variant_id)
    ${wrongStock(products, sql`h.product_id = i.id and h.variant_id is null`, rowOf(products, "i.id"))}
    union all
    ${wrongStock(productVariants, sql`h.variant_id = i.id`, rowOf(productVariants, "i.id", "i.product_id"))}`,
});

const fields = ["variants", "has_variants", "variants_stock", "variants_available"];

// Computed as the triggers on the variants do.
const living = (product: string) => sql`(select rendered, ${variantViews.public.json} as catalog, stock, reserved
  from ${productVariants}
  where product_id = ${sql.raw(product)} and deleted_at is null order by position, id)`;
const sums = sql`select product_id, count(*) as pieces,
  case when count(*) = count(stock) then sum(stock) end as stock,
  case when count(*) = count(stock) then sum(stock - reserved) end as available
  from ${productVariants} v where deleted_at is null and ${inScope("v")} group by product_id`;
export const variantSums = recordCheck({
  remedy: "Change one of the product's variants: the JSON and the sums are then computed again.",
  select: sql`
    with sums as (${sums}),
    compared as (
      select p.tenant_id, p.id as record, p.has_variants, s.pieces is not null as right_has_variants,
        p.variants_stock, s.stock as right_variants_stock,
        p.variants_available, s.available as right_variants_available,
        json_array_length(p.variants) || ' variants' || case when p.variants
          is (select json_group_array(json(rendered)) from ${living("p.id")}) and p.catalog_variants
          is (select json_group_array(json(catalog)) from ${living("p.id")}) then '' else ', out of date' end as variants,
        coalesce(s.pieces, 0) || ' variants' as right_variants
      from ${products} p left join sums s on s.product_id = p.id where p.deleted_at is null and ${inScope("p")})
    ${differences("compared", fields)}`,
});

const staleReplies = (table: typeof products | typeof productVariants, json: SQL) => sql`
  select tenant_id, id as record, 'reply' as field, 'another text' as found, 'the one of its columns' as expected,
    null as target
  from ${table} i where deleted_at is null and rendered is not ${json} and ${inScope("i")}`;

// These findings are not fixed, because it is unknown which side is damaged.
export const storedReplies = recordCheck({
  remedy: "Compare the product with a backup, and save it with the right values: its reply is then computed again.",
  select: sql`${staleReplies(products, productJson)} union all ${staleReplies(productVariants, variantJson)}`,
});

const indexProduct = statement(sql`
  insert or ignore into ${productsToIndex} values (${param("row")})`);
const removeWords = statement(sql`
  delete from product_search where rowid = ${param("row")}
    and not exists (select 1 from ${products} where row_number = ${param("row")} and deleted_at is null)`);
// The index stores no texts. Only its table of lengths has a row for each product.
const indexed = sql.raw("product_search_docsize");

export const searchIndex = recordCheck({
  select: sql`
    select * from (
      select p.tenant_id, p.id as record, 'words' as field, 'missing' as found, 'present' as expected, row_number as target
      from ${products} p left join ${indexed} d on d.id = p.row_number
      where p.deleted_at is null and d.id is null and ${inScope("p")}
      union all
      select p.tenant_id, coalesce(p.id, cast(d.id as text)), 'words', 'present', 'missing', d.id
      from ${indexed} d left join ${products} p on p.row_number = d.id
      where (p.row_number is null or p.deleted_at is not null) and ${inScope("p")})
    limit 10000`,
  async fix({ ctx }, { expected, target }) {
    await run(ctx.db, expected === "missing" ? removeWords : indexProduct, { row: target });
  },
});
