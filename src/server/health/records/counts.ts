import { sql } from "drizzle-orm";
import { param } from "../../db/statement.ts";
import { products, productVariants } from "../../modules/catalogue/products/table.ts";
import { media } from "../../modules/media/table.ts";
import { reactions } from "../../modules/reactions/table.ts";
import { resourceCounts } from "../../modules/resources/table.ts";
import { viewDays, viewDedupKeys } from "../../modules/views/table.ts";
import { differences, differencesFrom, inScope, recordCheck, rowOf } from "./check.ts";

const key = sql.raw("tenant_id, resource_type, resource_id");
/** Checks that the views of a resource yesterday and today are the numbers of its dedup keys. */
export const dayCounts = recordCheck({
  // Dedup keys of earlier days are deleted.
  select: sql`
    select m.tenant_id, m.resource_id || ' on ' || m.day as record, 'views' as field, d.views as found,
      m.views as expected, ${rowOf(viewDays, "m.resource_type", "m.resource_id", "m.day")} as target
    from (
      select ${key}, day, count(*) as views from ${viewDedupKeys} k
      where day in (select value from json_each(${param("days")})) and ${inScope("k")} group by day, ${key}) m
    left join ${viewDays} d on d.tenant_id = m.tenant_id and d.resource_type = m.resource_type
      and d.resource_id = m.resource_id and d.day = m.day
    where d.views is not m.views`,
});

/** Checks that counts of a resource are the numbers of its likes and bookmarks, and the sum of its daily views. */
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

/** Checks that the likes and views of a product are the counts of its resource. */
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

/** Checks that the uses of a picture are the products and variants that use it. */
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
