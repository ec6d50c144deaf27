import { sql } from "drizzle-orm";
import { all, param, run, statement } from "../../db/statement.ts";
import { orderNumbers, orders } from "../../modules/orders/table.ts";
import { type Inconsistency, inScope, type RecordCheck } from "./check.ts";

const select = statement<Inconsistency>(sql`
  with highest as (select tenant_id, max(number) as number from ${orders} o where ${inScope("o")} group by tenant_id)
  select tenant_id, case when number = before + 2 then cast(before + 1 as text) else (before + 1) || '-' || (number - 1) end
    as record, 'number' as field, 'missing' as found, 'present' as expected, 0 as fixable
  from (select tenant_id, number, lag(number, 1, 0) over (partition by tenant_id order by number) as before
    from ${orders} o where ${inScope("o")})
  where number <> before + 1
  union all
  select h.tenant_id, 'order_numbers', 'last', n.last, h.number, n.last is null or n.last < h.number
  from highest h left join ${orderNumbers} n on n.tenant_id = h.tenant_id where n.last is not h.number
  union all
  select n.tenant_id, 'order_numbers', 'last', n.last, 0, 0 from ${orderNumbers} n
  where n.last <> 0 and ${inScope("n")} and n.tenant_id not in (select tenant_id from highest)`);
// A number is never reused, so the counter only increases.
const update = statement(sql`
  insert into ${orderNumbers} (tenant_id, last)
  select tenant_id, max(number) from ${orders} where tenant_id = ${param("tenantId")} group by tenant_id
  on conflict (tenant_id) do update set last = excluded.last where last < excluded.last`);

/** Order numbers have no gaps, and the counter is the highest number. */
export const numbers: RecordCheck = {
  id: "numbers",
  remedy:
    "Orders with these numbers are missing, and numbers are never reused. Find them in a backup, or record the gap in your books.",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  fix: (tx, _targets, tenant) => run(tx.db, update, { tenantId: tenant?.id ?? null }),
};
