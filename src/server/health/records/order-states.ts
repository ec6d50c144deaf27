import { type SQL, sql } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { orders } from "../../modules/orders/table.ts";
import { type Inconsistency, inScope, type RecordCheck } from "./check.ts";

/**
 * SQL for whether the statuses and times of an order are consistent. Nothing is fixed from orders that are not, because the
 * right status is unknown.
 */
export function isCoherent(alias: string): SQL {
  const of = (column: string) => sql.raw(`${alias}.${column}`);
  const isNeverPaid = sql`${of("payment_status")} = 'unpaid' and ${of("paid_at")} is null`;
  return sql`(case ${of("status")}
    when 'paid' then ${of("payment_status")} in ('paid', 'partially_refunded') and ${of("paid_at")} is not null
    when 'completed' then ${of("payment_status")} <> 'unpaid' and ${of("paid_at")} is not null
    when 'cancelled' then ${isNeverPaid} or ${of("payment_status")} = 'refunded' and ${of("paid_at")} is not null
    else ${isNeverPaid} end
    and (${of("status")} = 'completed') = (${of("fulfillment_status")} = 'fulfilled')
    and (${of("status")} = 'completed') = (${of("fulfilled_at")} is not null)
    and (${of("status")} = 'cancelled') = (${of("cancelled_at")} is not null))`;
}

const select = statement<Inconsistency>(sql`
  select tenant_id, id as record, 'states' as field,
    concat_ws(', ', status, payment_status, fulfillment_status, case when paid_at is not null then 'paid_at' end,
      case when fulfilled_at is not null then 'fulfilled_at' end,
      case when cancelled_at is not null then 'cancelled_at' end) as found,
    'consistent statuses' as expected, 0 as fixable
  from ${orders} o where not ${isCoherent("o")} and ${inScope("o")}`);

/** The statuses of an order, its payment and its fulfillment, and their times, do not contradict each other. */
export const orderStates: RecordCheck = {
  id: "states",
  remedy: "Compare the order with the payment and a backup. Stock, totals and refunds of such an order are not fixed.",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
};
