import { sql } from "drizzle-orm";
import { all, run, statement } from "../db/statement.ts";
import { indexProduct } from "../modules/products/search.ts";
import { products } from "../modules/products/table.ts";
import { type Check, type Finding, inScope } from "./check.ts";

const param = sql.placeholder;

// The index keeps no texts; the one table of it that has a row for each product is that of their lengths.
const indexed = sql.raw("product_search_docsize");
const select = statement<Finding>(sql`
  select tenant_id, id as record, 'is_indexed' as field, 0 as found, 1 as expected, 1 as fixable
  from ${products} p where is_indexed = 0 and deleted_at is null and ${inScope("p")}
  union all
  select p.tenant_id, p.id, 'words', 'missing', 'present', 1 from ${products} p left join ${indexed} d on d.id = p.row_number
  where p.is_indexed = 1 and p.deleted_at is null and d.id is null and ${inScope("p")}
  union all
  select p.tenant_id, coalesce(p.id, d.id), 'words', 'present', 'missing', 1
  from ${indexed} d left join ${products} p on p.row_number = d.id
  where (p.row_number is null or p.deleted_at is not null) and ${inScope("p")}`);
const removeWords = statement(sql`
  delete from product_search where rowid in (
    select d.id from ${indexed} d left join ${products} p on p.row_number = d.id
    where (p.row_number is null or p.deleted_at is not null) and p.tenant_id is ${param("tenantId")}
      and coalesce(p.id, cast(d.id as text)) in (select value from json_each(${param("ids")})))`);

/** Every living product stands in the search index, and nothing else. */
export const searchIndex: Check = {
  name: "search",
  find: (ctx, tenantId) => all(ctx.db.primary, select, { tenantId }),
  async mend(tx, targets, tenant) {
    const removed = await run(tx.db, removeWords, { tenantId: tenant?.id ?? null, ids: JSON.stringify(targets) });
    if (tenant !== null) for (const id of targets) await indexProduct({ ...tx, tenant }, id);
    return Math.max(removed, targets.length);
  },
};
