import { type SQL, sql } from "drizzle-orm";
import { all, type CompiledStatement, param, statement } from "../../db/statement.ts";
import { orderLines, orders } from "../../modules/orders/table.ts";
import { indexProduct } from "../../modules/products/list/search.ts";
import { productJson, variantJson, variantViews } from "../../modules/products/rendering.ts";
import { type StockItem, stockChanged } from "../../modules/products/stock.ts";
import { products, productVariants } from "../../modules/products/table.ts";
import { beginBatch, endBatch } from "../../modules/products/variants/summaries.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";
import { isCoherent } from "./orders.ts";

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

const selectStock = statement<Inconsistency>(sql`
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

export const reservedStock: RecordCheck = {
  id: "stock",
  about: "The reserved stock of products and variants is that of the pending orders.",
  remedy: "First correct the orders with contradicting statuses; then the doctor can compute the reserved stock.",
  select: selectStock,
  async fix(tx, params) {
    await tx.db.execute(beginBatch);
    const items = [...(await all(tx.db, fixProducts, params)), ...(await all(tx.db, fixVariants, params))];
    await tx.db.batch([endBatch, ...items.map((item) => stockChanged(tx, item, "repair", params.now))]);
    return items.length;
  },
};

const fields = ["variants", "has_variants", "variants_stock", "variants_available"] as const;

// Computed as the triggers on the variants do.
const living = (product: string) => sql`(select rendered, ${variantViews.catalog} as catalog, stock, reserved
  from ${productVariants}
  where product_id = ${sql.raw(product)} and deleted_at is null order by position, id)`;
const sums = sql`select product_id, count(*) as pieces,
  case when count(*) = count(stock) then sum(stock) end as stock,
  case when count(*) = count(stock) then sum(stock - reserved) end as available
  from ${productVariants} v where deleted_at is null and ${inScope("v")} group by product_id`;
const selectVariants = statement<Inconsistency>(sql`
  with sums as (${sums}),
  compared as (
    select p.tenant_id, p.id as record, 0 as fixable, p.has_variants, s.pieces is not null as right_has_variants,
      p.variants_stock, s.stock as right_variants_stock,
      p.variants_available, s.available as right_variants_available,
      json_array_length(p.variants) || ' variants' || case when p.variants
        is (select json_group_array(json(rendered)) from ${living("p.id")}) and p.catalog_variants
        is (select json_group_array(json(catalog)) from ${living("p.id")}) then '' else ', out of date' end as variants,
      coalesce(s.pieces, 0) || ' variants' as right_variants
    from ${products} p left join sums s on s.product_id = p.id where p.deleted_at is null and ${inScope("p")})
  ${differences("compared", fields)}`);
export const variantSums: RecordCheck = {
  id: "variants",
  about: "The JSON and the sums of a product's variants agree with its variants.",
  remedy: "Change one of the product's variants: the JSON and the sums are then computed again.",
  select: selectVariants,
};

const staleReplies = (table: typeof products | typeof productVariants, json: SQL) => sql`
  select tenant_id, id, case when json_valid(rendered) then rendered else '{}' end as found, ${json} as expected
  from ${table} i where deleted_at is null and rendered is not ${json} and ${inScope("i")}`;
const foundMember = sql`json_extract(s.found, '$.' || e.key)`;
const selectReplies = statement<Inconsistency>(sql`
  with stale as materialized (
    ${staleReplies(products, productJson)} union all ${staleReplies(productVariants, variantJson)})
  select s.tenant_id, s.id as record, 'reply' || coalesce('.' || e.key, '') as field,
    case when e.key is null then 'another text' else substr(${foundMember}, 1, 100) end as found,
    coalesce(substr(e.value, 1, 100), 'null') as expected, 0 as fixable
  from stale s left join json_each(s.expected) e on e.value is not ${foundMember}`);

// Which side is damaged is not known.
export const storedReplies: RecordCheck = {
  id: "replies",
  about: "The stored replies of products and variants agree with their columns.",
  remedy: "Compare the product with a backup, and save it with the right values: its reply is then computed again.",
  select: selectReplies,
};

// The index stores no texts; only its table of lengths has a row for each product.
const indexed = sql.raw("product_search_docsize");
// Limited, because after some migrations no product is indexed until the server has run.
const selectWords = statement<Inconsistency>(sql`
  select * from (
    select tenant_id, id as record, 'is_indexed' as field, 0 as found, 1 as expected, 1 as fixable
    from ${products} p where is_indexed = 0 and deleted_at is null and ${inScope("p")}
    union all
    select p.tenant_id, p.id, 'words', 'missing', 'present', 1
    from ${products} p left join ${indexed} d on d.id = p.row_number
    where p.is_indexed = 1 and p.deleted_at is null and d.id is null and ${inScope("p")}
    union all
    select p.tenant_id, coalesce(p.id, cast(d.id as text)), 'words', 'present', 'missing', 1
    from ${indexed} d left join ${products} p on p.row_number = d.id
    where (p.row_number is null or p.deleted_at is not null) and ${inScope("p")})
  limit 10000`);
const removeOfDeleted = statement(sql`
  delete from product_search where rowid in (
    select row_number from ${products} p where ${isNamed("p")} and deleted_at is not null)`);
const removeOfNone = statement(sql`
  delete from product_search where rowid in (
    select cast(value as integer) from json_each(${param("ids")}) j
    where not exists (select 1 from ${products} p where p.row_number = cast(j.value as integer)))`);

export const searchIndex: RecordCheck = {
  id: "search",
  about: "The search index contains all products that are not deleted, and nothing else.",
  select: selectWords,
  updates: [removeOfDeleted, removeOfNone],
  async fix(tx, _params, ids) {
    for (const id of ids) await indexProduct(tx, id);
    return ids.length;
  },
};
