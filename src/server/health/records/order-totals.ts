import { sql } from "drizzle-orm";
import { all, param, run, statement } from "../../db/statement.ts";
import { orderLines, orders } from "../../modules/orders/table.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";
import { isCoherent } from "./order-states.ts";

const fields = ["subtotal_minor", "discount_minor", "tax_minor", "total_minor"] as const;

const lineSums = sql`select order_id, sum(subtotal_minor) as subtotal, sum(discount_minor) as discount,
  sum(tax_minor) as tax, sum(total_minor) as total from ${orderLines} l`;
const differs = sql`(o.subtotal_minor <> s.subtotal or o.discount_minor <> s.discount or o.tax_minor <> s.tax
  or o.total_minor <> s.total + o.shipping_minor)`;

const select = statement<Inconsistency>(sql`
  with sums as (${lineSums} where ${inScope("l")} group by order_id),
  compared as (
    select o.tenant_id, o.id as record, o.id as target, o.payment_status = 'unpaid' and ${isCoherent("o")}
        and s.order_id is not null as fixable,
      o.subtotal_minor, coalesce(s.subtotal, 0) as right_subtotal_minor,
      o.discount_minor, coalesce(s.discount, 0) as right_discount_minor,
      o.tax_minor, coalesce(s.tax, 0) as right_tax_minor,
      o.total_minor, coalesce(s.total, 0) + o.shipping_minor as right_total_minor
    from ${orders} o left join sums s on s.order_id = o.id
    where ${inScope("o")} and (s.order_id is null or ${differs}))
  ${differences("compared", fields)}`);
// The total of a paid order is the amount that was paid.
const update = statement(sql`
  update ${orders} set subtotal_minor = s.subtotal, discount_minor = s.discount, tax_minor = s.tax,
    total_minor = s.total + s.shipping, version = version + 1, updated_at = ${param("now")}
  from (select o.id, o.shipping_minor as shipping, s.* from ${orders} o join (${lineSums}
      where ${isNamed("l", "order_id")} group by order_id) s on s.order_id = o.id
    where o.payment_status = 'unpaid' and ${isCoherent("o")} and ${differs}) s
  where ${orders}.id = s.id and ${orders}.tenant_id = ${param("tenantId")}`);

/** Totals of orders are the sums of their lines; those of unpaid orders can be fixed. */
export const orderTotals: RecordCheck = {
  id: "totals",
  remedy: "A paid order keeps its total. Compare it with the payment, and with its lines in a backup.",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
  async fix(tx, targets, tenant) {
    const values = { tenantId: tenant?.id ?? null, ids: JSON.stringify(targets), now: toTimestamp(tx.now()) };
    return run(tx.db, update, values);
  },
};
