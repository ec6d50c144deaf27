import { type SQL, sql } from "drizzle-orm";
import { param, statement } from "../../db/statement.ts";
import { productJson, variantJson, variantViews } from "../../modules/catalogue/products/rendering.ts";
import { products, productsToIndex, productVariants, staleSummaries } from "../../modules/catalogue/products/table.ts";
import { media } from "../../modules/media/table.ts";
import { orderLines, orders } from "../../modules/orders/table.ts";
import { reactions } from "../../modules/reactions/table.ts";
import { resourceCounts } from "../../modules/resources/table.ts";
import { viewDays } from "../../modules/views/table.ts";
import { differences, differencesFrom, inScope, recordCheck, rowOf } from "./check.ts";
import { isCoherent } from "./orders.ts";

/** Selects items whose reserved stock is wrong. It is not fixed if the statuses of an order with the item disagree. */
const wrongStock = (table: typeof products | typeof productVariants, ...key: string[]) => sql`
  select i.tenant_id, i.id as record, 'reserved' as field, i.reserved as found, coalesce(h.pieces, 0) as expected,
    iif(h.is_doubtful, null, ${rowOf(table, ...key)}) as target
  from ${table} i left join held h on h.item = i.id where i.reserved <> coalesce(h.pieces, 0) and ${inScope("i")}`;

export const reservedStock = recordCheck({
  remedy: "First correct the orders whose statuses disagree. Then doctor can compute the reserved stock.",
  select: sql`
    with held as (
      select coalesce(l.variant_id, l.product_id) as item, max(not ${isCoherent}) as is_doubtful,
        sum(iif(o.status = 'pending' and ${isCoherent}, l.quantity, 0)) as pieces
      from ${orders} o join ${orderLines} l on l.order_id = o.id where l.is_counted and ${inScope("o")} group by item)
    ${wrongStock(products, "i.id")} union all ${wrongStock(productVariants, "i.id", "i.product_id")}`,
});

const markStale = statement(sql`insert or ignore into ${staleSummaries} values (${param("target")}, '')`);
const endStale = statement(sql`delete from ${staleSummaries} where product_id = ${param("target")}`);

export const variantSums = recordCheck({
  // Computes the same columns as the trigger on `stale_summaries`.
  select: sql`
    select tenant_id, id as record, 'variants' as field, 'out of date' as found, 'up to date' as expected, id as target
    from ${products} p
    where deleted_at is null and ${inScope("p")}
      and (variants, catalog_variants, has_variants, variants_stock, variants_available) is not (
        select json_group_array(json(rendered)), json_group_array(json(catalog)), count(*) > 0,
          case when count(*) = count(stock) then sum(stock) end,
          case when count(*) = count(stock) then sum(stock - reserved) end
        from (select rendered, ${variantViews.public.json} as catalog, stock, reserved from ${productVariants}
          where product_id = p.id and deleted_at is null order by position, id))`,
  fix: [markStale, endStale],
});

const staleReplies = (table: typeof products | typeof productVariants, json: SQL) => sql`
  select tenant_id, id as record, 'reply' as field, 'another text' as found, 'the one of its columns' as expected,
    null as target
  from ${table} i where deleted_at is null and rendered is not ${json} and ${inScope("i")}`;

// These findings are not fixed, because either the reply or the columns may be damaged.
export const storedReplies = recordCheck({
  remedy: "Compare the product with a backup, and save it with the right values. This computes its reply again.",
  select: sql`${staleReplies(products, productJson)} union all ${staleReplies(productVariants, variantJson)}`,
});

const removeWords = statement(sql`delete from product_search where rowid = ${param("target")}`);
const indexProduct = statement(sql`
  insert or ignore into ${productsToIndex} select row_number from ${products} where row_number = ${param("target")}`);

export const searchIndex = recordCheck({
  // The index stores no texts. Its table of lengths has a row for each product in the index.
  select: sql`
    select * from (
      select p.tenant_id, p.id as record, 'words' as field, 'missing' as found, 'present' as expected, row_number as target
      from ${products} p left join product_search_docsize d on d.id = p.row_number
      where p.deleted_at is null and d.id is null and ${inScope("p")}
      union all
      select p.tenant_id, coalesce(p.id, cast(d.id as text)), 'words', 'present', 'missing', d.id
      from product_search_docsize d left join ${products} p on p.row_number = d.id
      where (p.row_number is null or p.deleted_at is not null) and ${inScope("p")})
    limit 10000`,
  fix: [removeWords, indexProduct],
});

const key = sql.raw("tenant_id, resource_type, resource_id");
export const resourceTotals = recordCheck({
  select: sql`
    with compared as (
      select ${key}, resource_id as record, sum(likes) as likes, sum(right_likes) as right_likes,
        sum(bookmarks) as bookmarks, sum(right_bookmarks) as right_bookmarks, sum(views) as views, sum(right_views) as right_views
      from (
        select ${key}, likes, bookmarks, views, 0 as right_likes, 0 as right_bookmarks, 0 as right_views
        from ${resourceCounts} c where ${inScope("c")}
        union all select ${key}, 0, 0, 0, kind = 'like', kind = 'bookmark', 0 from ${reactions} r where ${inScope("r")}
        union all select ${key}, 0, 0, 0, 0, 0, views from ${viewDays} d where ${inScope("d")})
      group by ${key})
    ${differences("compared", ["likes", "bookmarks", "views"], rowOf(resourceCounts, "resource_type", "resource_id"))}`,
});

export const productCounts = recordCheck({
  select: differencesFrom(
    products,
    ["likes_count", "views_count"],
    sql`select tenant_id, resource_id as id, likes as likes_count, views as views_count
      from ${resourceCounts} c where resource_type = 'product' and ${inScope("c")}`,
    rowOf(products, "id"),
  ),
});

const shows = (alias: string) => sql`${inScope(alias)} and deleted_at is null and instr(images, '"media_id"')`;

export const pictureUses = recordCheck({
  select: differencesFrom(
    media,
    ["uses"],
    sql`select tenant_id, i.value ->> 'media_id' as id, count(distinct o.id) as uses
      from (
        select tenant_id, id, images from ${products} p where ${shows("p")}
        union all select tenant_id, id, images from ${productVariants} v where ${shows("v")}) o, json_each(o.images) i
      where i.value ->> 'media_id' is not null group by tenant_id, i.value ->> 'media_id'`,
    rowOf(media, "id"),
  ),
});
