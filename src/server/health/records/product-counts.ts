import { sql } from "drizzle-orm";
import { all, param, run, statement } from "../../db/statement.ts";
import { products } from "../../modules/products/table.ts";
import { resourceCounts } from "../../modules/resources/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

const counted = sql`${products} p left join ${resourceCounts} c
  on c.tenant_id = p.tenant_id and c.resource_type = 'product' and c.resource_id = p.id`;
const select = statement<Inconsistency>(sql`
  with compared as (
    select p.tenant_id, p.id as record, null as target, 1 as fixable,
      p.likes_count, coalesce(c.likes, 0) as right_likes_count, p.views_count, coalesce(c.views, 0) as right_views_count
    from ${counted} where ${inScope("p")})
  ${differences("compared", ["likes_count", "views_count"])}`);
// Like the triggers, this keeps the product's version.
const update = statement(sql`
  update ${products} set likes_count = r.likes, views_count = r.views
  from (select p.id, coalesce(c.likes, 0) as likes, coalesce(c.views, 0) as views from ${counted} where ${isNamed("p")}) r
  where ${products}.id = r.id and ${products}.tenant_id = ${param("tenantId")}
    and (${products}.likes_count <> r.likes or ${products}.views_count <> r.views)`);

/** The likes and views of a product are the counts of its resource. */
export const productCounts: RecordCheck = {
  id: "counts",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  fix: (tx, targets, tenant) => run(tx.db, update, { tenantId: tenant?.id ?? null, ids: JSON.stringify(targets) }),
};
