import { type SQL, sql } from "drizzle-orm";
import { param, statement } from "../../db/statement.ts";
import { media } from "../../modules/media/table.ts";
import { products, productVariants } from "../../modules/products/table.ts";
import { reactions } from "../../modules/reactions/table.ts";
import { resourceCounts, resourceTypes } from "../../modules/resources/table.ts";
import { viewDays, viewDedupKeys } from "../../modules/views/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

// The types let SQLite use the primary key.
const types = sql`select 'product' union all select name from ${resourceTypes} t where t.tenant_id = ${param("tenantId")}`;
const isNamedResource = (alias: string) =>
  sql`${isNamed(alias, "resource_id")} and ${sql.raw(alias)}.resource_type in (${types})`;

const key = sql.raw("tenant_id, resource_type, resource_id");

/** SQL for a common table expression with the stored counts and the right ones. */
function reactionSums(scope: (alias: string) => SQL): SQL {
  return sql`compared as (
    select ${key}, resource_id as record, 1 as fixable, sum(likes) as likes, sum(right_likes) as right_likes,
      sum(bookmarks) as bookmarks, sum(right_bookmarks) as right_bookmarks
    from (select ${key}, likes, bookmarks, 0 as right_likes, 0 as right_bookmarks
        from ${resourceCounts} c where ${scope("c")}
      union all select ${key}, 0, 0, kind = 'like', kind = 'bookmark' from ${reactions} r where ${scope("r")})
    group by ${key})`;
}

const selectReactions = statement<Inconsistency>(
  sql`with ${reactionSums(inScope)} ${differences("compared", ["likes", "bookmarks"])}`,
);
const updateReactions = statement(sql`
  insert into ${resourceCounts} (tenant_id, resource_type, resource_id, likes, bookmarks)
  select tenant_id, resource_type, record, right_likes, right_bookmarks from (
    with ${reactionSums(isNamedResource)} select * from compared where likes <> right_likes or bookmarks <> right_bookmarks)
  where true
  on conflict (tenant_id, resource_type, resource_id)
  do update set likes = excluded.likes, bookmarks = excluded.bookmarks`);

export const reactionCounts: RecordCheck = {
  id: "likes",
  about: "The likes and bookmarks of a resource are the numbers of its rows.",
  select: selectReactions,
  updates: [updateReactions],
};

// The dedup keys of earlier days are deleted, so that those days cannot be compared.
const isMarked = (scope: SQL) => sql`m.day in (select value from json_each(${param("days")})) and ${scope}`;
const marked = (scope: SQL) => sql`select ${key}, day, count(*) as views from ${viewDedupKeys} m
  where ${isMarked(scope)} group by day, ${key}`;
// The right views of a day: the number of dedup keys, where there are any.
const rightDays = (scope: SQL) => sql`select ${key}, day, views from marked
  union all select ${key}, day, views from ${viewDays} c where ${scope} and not exists (
    select 1 from marked m where m.tenant_id = c.tenant_id and m.resource_type = c.resource_type
      and m.resource_id = c.resource_id and m.day = c.day)`;
const summed = (scope: SQL) => sql`select ${key}, sum(kept) as views, sum(right) as right_views from (
    select ${key}, views as kept, 0 as right from ${resourceCounts} c where ${scope}
    union all select ${key}, 0, views from right_days)
  group by ${key}`;
const sources = (marks: SQL, scope: SQL) =>
  sql`with marked as materialized (${marks}), right_days as (${rightDays(scope)})`;
const selectViews = statement<Inconsistency>(sql`
  ${sources(marked(inScope("m")), inScope("c"))}, compared as (
    select ${key}, resource_id as record, 1 as fixable, views, right_views
    from (${summed(inScope("c"))}))
  ${differences("compared", ["views"])}
  union all
  select m.tenant_id, m.resource_id, m.resource_id, m.day, d.views, m.views, 1 from marked m
  left join ${viewDays} d on d.tenant_id = m.tenant_id and d.resource_type = m.resource_type
    and d.resource_id = m.resource_id and d.day = m.day
  where d.views is not m.views`);
const named = (alias: string) => isNamed(alias, "resource_id");
const fixDays = statement(sql`
  insert into ${viewDays} (${key}, day, views)
  select ${key}, day, views from (${marked(named("m"))}) where true
  on conflict (${key}, day) do update set views = excluded.views where views <> excluded.views`);
const fixTotals = statement(sql`
  ${sources(marked(named("m")), named("c"))}
  insert into ${resourceCounts} (${key}, views)
  select ${key}, right_views from (${summed(named("c"))}) where views <> right_views
  on conflict (${key}) do update set views = excluded.views`);

export const viewCounts: RecordCheck = {
  id: "views",
  about: "The views of a resource are the sum of its days; those of yesterday and today are the number of dedup keys.",
  select: selectViews,
  updates: [fixDays, fixTotals],
};

const counted = sql`${products} p left join ${resourceCounts} c
  on c.tenant_id = p.tenant_id and c.resource_type = 'product' and c.resource_id = p.id`;
const selectProducts = statement<Inconsistency>(sql`
  with compared as (
    select p.tenant_id, p.id as record, 1 as fixable,
      p.likes_count, coalesce(c.likes, 0) as right_likes_count, p.views_count, coalesce(c.views, 0) as right_views_count
    from ${counted} where ${inScope("p")})
  ${differences("compared", ["likes_count", "views_count"])}`);
// Like the triggers, this keeps the product's version.
const updateProducts = statement(sql`
  update ${products} set likes_count = r.likes, views_count = r.views
  from (select p.id, coalesce(c.likes, 0) as likes, coalesce(c.views, 0) as views from ${counted} where ${isNamed("p")}) r
  where ${products}.id = r.id and ${products}.tenant_id = ${param("tenantId")}
    and (${products}.likes_count <> r.likes or ${products}.views_count <> r.views)`);

export const productCounts: RecordCheck = {
  id: "counts",
  about: "The likes and views of a product are the counts of its resource.",
  select: selectProducts,
  updates: [updateProducts],
};

/** SQL for common table expressions with the stored uses of pictures and the right ones. */
function uses(scope: (alias: string) => SQL, named: (alias: string) => SQL): SQL {
  const shows = (alias: string) => sql`${named(alias)} and deleted_at is null and instr(images, '"media_id"')`;
  return sql`shown as (
    select o.tenant_id, i.value ->> 'media_id' as id, count(distinct o.id) as uses from (
      select tenant_id, id, images from ${products} p where ${shows("p")}
      union all select tenant_id, id, images from ${productVariants} v where ${shows("v")}) o, json_each(o.images) i
    where i.value ->> 'media_id' is not null group by o.tenant_id, i.value ->> 'media_id'),
  compared as (
    select m.tenant_id, m.id as record, 1 as fixable, m.uses, coalesce(s.uses, 0) as right_uses
    from ${media} m left join shown s on s.tenant_id = m.tenant_id and s.id = m.id where ${scope("m")})`;
}

const selectUses = statement<Inconsistency>(sql`with ${uses(inScope, inScope)} ${differences("compared", ["uses"])}`);
const ofTenant = (alias: string) => sql`${sql.raw(alias)}.tenant_id = ${sql.placeholder("tenantId")}`;
const updateUses = statement(sql`
  update ${media} set uses = c.right_uses
  from (with ${uses((alias) => isNamed(alias), ofTenant)} select * from compared where uses <> right_uses) c
  where ${media}.id = c.record`);

export const pictureUses: RecordCheck = {
  id: "pictures",
  about: "The uses of a picture are the number of products and variants that show it.",
  select: selectUses,
  updates: [updateUses],
};
