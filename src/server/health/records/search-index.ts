import { sql } from "drizzle-orm";
import { all, param, run, statement } from "../../db/statement.ts";
import { indexProduct } from "../../modules/products/list/search.ts";
import { products } from "../../modules/products/table.ts";
import { type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

// The index stores no texts; only its table of lengths has a row for each product.
const indexed = sql.raw("product_search_docsize");
// Limited, because after some migrations no product is indexed until the server has run.
const select = statement<Inconsistency>(sql`
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

/** The search index contains all products that are not deleted, and nothing else. */
export const searchIndex: RecordCheck = {
  id: "search",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  async fix(tx, targets, tenant) {
    const ids = JSON.stringify(targets);
    if (tenant === null) return run(tx.db, removeOfNone, { ids });
    await run(tx.db, removeOfDeleted, { tenantId: tenant.id, ids });
    for (const id of targets) await indexProduct({ ...tx, tenant }, id);
    return targets.length;
  },
};
