import { type SQL, sql } from "drizzle-orm";
import { all, run, statement } from "../../db/statement.ts";
import { reactions } from "../../modules/reactions/table.ts";
import { resourceTypes } from "../../modules/resources/registry.ts";
import { resourceCounts } from "../../modules/resources/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

// The types let SQLite use the primary key.
const types = sql.raw(resourceTypes.map((type) => `'${type}'`).join(", "));
const isNamedResource = (alias: string) =>
  sql`${isNamed(alias, "resource_id")} and ${sql.raw(alias)}.resource_type in (${types})`;

/** SQL for common table expressions with the stored counts and the right ones. */
function counted(scope: (alias: string) => SQL): SQL {
  return sql`rows_ as (
    select tenant_id, resource_type, resource_id, sum(kind = 'like') as likes, sum(kind = 'bookmark') as bookmarks
    from ${reactions} r where ${scope("r")} group by tenant_id, resource_type, resource_id),
  kept as (select * from ${resourceCounts} c where ${scope("c")}),
  compared as (
    select c.tenant_id, c.resource_type, c.resource_id as record, null as target, 1 as fixable,
      c.likes, coalesce(r.likes, 0) as right_likes, c.bookmarks, coalesce(r.bookmarks, 0) as right_bookmarks
    from kept c left join rows_ r on r.tenant_id = c.tenant_id and r.resource_type = c.resource_type
      and r.resource_id = c.resource_id
    union all
    select r.tenant_id, r.resource_type, r.resource_id, null, 1, 0, r.likes, 0, r.bookmarks
    from rows_ r left join kept c on c.tenant_id = r.tenant_id and c.resource_type = r.resource_type
      and c.resource_id = r.resource_id
    where c.resource_id is null)`;
}

const select = statement<Inconsistency>(
  sql`with ${counted(inScope)} ${differences("compared", ["likes", "bookmarks"])}`,
);
const update = statement(sql`
  insert into ${resourceCounts} (tenant_id, resource_type, resource_id, likes, bookmarks)
  select tenant_id, resource_type, record, right_likes, right_bookmarks from (
    with ${counted(isNamedResource)} select * from compared where likes <> right_likes or bookmarks <> right_bookmarks)
  where true
  on conflict (tenant_id, resource_type, resource_id)
  do update set likes = excluded.likes, bookmarks = excluded.bookmarks`);

/** The likes and bookmarks of a resource are the numbers of its rows. */
export const reactionCounts: RecordCheck = {
  id: "likes",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  fix: (tx, targets, tenant) => run(tx.db, update, { tenantId: tenant?.id ?? null, ids: JSON.stringify(targets) }),
};
