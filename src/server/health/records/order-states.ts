import { type SQL, sql } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { orders } from "../../modules/orders/table.ts";
import { type Check, type Finding, inScope } from "./check.ts";

/**
 * SQL: whether the three states of an order and its times go together as the program leaves them. Of others nobody knows
 * what happened, so nothing is mended by them.
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

const select = statement<Finding>(sql`
  select tenant_id, id as record, 'states' as field,
    concat_ws(', ', status, payment_status, fulfillment_status, case when paid_at is not null then 'paid_at' end,
      case when fulfilled_at is not null then 'fulfilled_at' end,
      case when cancelled_at is not null then 'cancelled_at' end) as found,
    'states that go together' as expected, 0 as fixable
  from ${orders} o where not ${isCoherent("o")} and ${inScope("o")}`);

/** The state of an order, of its payment and of its fulfilment, and their times, do not contradict each other. */
export const orderStates: Check = {
  name: "states",
  remedy:
    "Which state is right only the payment and the backup tell. Pieces, totals and refunds of such an order are not mended.",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
};
