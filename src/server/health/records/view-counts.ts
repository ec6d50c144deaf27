import { type SQL, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, bind, param, statement } from "../../db/statement.ts";
import { resourceCounts } from "../../modules/resources/table.ts";
import { dayOf } from "../../modules/views/dedup-key.ts";
import { viewDays, viewDedupKeys } from "../../modules/views/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

const dayMs = 86_400_000;

const key = sql.raw("tenant_id, resource_type, resource_id");
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
const select = statement<Inconsistency>(sql`
  ${sources(marked(inScope("m")), inScope("c"))}, compared as (
    select ${key}, resource_id as record, null as target, 1 as fixable, views, right_views
    from (${summed(inScope("c"))}))
  ${differences("compared", ["views"])}
  union all
  select m.tenant_id, m.resource_id, null, m.day, d.views, m.views, 1 from marked m
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

/** Days that may have dedup keys: yesterday, today, and tomorrow for clocks that are ahead. */
function markedDays(ctx: SystemCtx): string {
  return JSON.stringify([-1, 0, 1].map((days) => dayOf(ctx.now() + days * dayMs)));
}

/** The views of a resource are the sum of its days; those of yesterday and today are the number of dedup keys. */
export const viewCounts: RecordCheck = {
  id: "views",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId, days: markedDays(ctx) }),
  async fix(tx, targets, tenant) {
    const values = { tenantId: tenant?.id ?? null, ids: JSON.stringify(targets), days: markedDays(tx) };
    const results = await tx.db.batch([bind(fixDays, values), bind(fixTotals, values)]);
    return results.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
  },
};
