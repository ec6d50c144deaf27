import { sql } from "drizzle-orm";
import { discounts, discountUses } from "../../modules/discounts/table.ts";
import { invoices } from "../../modules/invoices/table.ts";
import { orderAttention } from "../../modules/orders/attention/table.ts";
import { dueMinor } from "../../modules/orders/statements.ts";
import { fulfillments, orderLines, orderRefunds, orders, payments } from "../../modules/orders/table.ts";
import { rewardBalances, rewardEntries, rewardLots } from "../../modules/rewards/table.ts";
import { differences, differencesFrom, inScope, recordCheck, rowOf } from "./check.ts";

/**
 * SQL that is true if the statuses and times of an order `o` agree. Doctor computes the stock only from such orders. A
 * pending order may be paid if the amount was wrong, and a cancelled order may be paid if its refund failed.
 */
export const isCoherent = sql`(case o.status
    when 'paid' then o.payment_status <> 'unpaid' and o.paid_at is not null
    when 'completed' then o.payment_status <> 'unpaid' and o.paid_at is not null
    when 'pending' then o.paid_at is null and (o.payment_status not in ('paid', 'partially_refunded')
      or exists (select 1 from ${orderAttention} a where a.order_id = o.id and a.kind = 'amount_mismatch'))
    when 'cancelled' then o.paid_at is null or o.payment_status in ('refunded', 'partially_refunded')
      or exists (select 1 from ${orderRefunds} r where r.order_id = o.id and r.state = 'failed')
    else o.paid_at is null end
  and (o.status = 'completed') = (o.fulfillment_status = 'fulfilled')
  and (o.status = 'completed') = (o.fulfilled_at is not null)
  and (o.status = 'cancelled') = (o.cancelled_at is not null))`;

export const orderStates = recordCheck({
  remedy: "Compare the order with the payment and a backup. The reserved stock of its products is not fixed.",
  select: sql`
    select tenant_id, id as record, 'states' as field,
      concat_ws(', ', status, payment_status, fulfillment_status, iif(paid_at is null, null, 'paid_at'),
        iif(fulfilled_at is null, null, 'fulfilled_at'), iif(cancelled_at is null, null, 'cancelled_at')) as found,
      'consistent statuses' as expected, null as target
    from ${orders} o where not ${isCoherent} and ${inScope("o")}`,
});

/** Recomputes amounts and statuses of orders from lines, payments, sent pieces and refunds that did not fail. */
export const orderTotals = recordCheck({
  remedy:
    "Amounts are never changed. Cancel the order if it is unpaid; otherwise compare it with payments and a backup.",
  select: differencesFrom(
    orders,
    [
      ...["subtotal_minor", "discount_minor", "tax_minor", "total_minor"],
      ...["received_minor", "refunded_minor", "credited_minor", "payment_status", "fulfillment_status"],
    ],
    sql`select o.tenant_id, o.id, coalesce(l.subtotal, 0) as subtotal_minor, coalesce(l.discount, 0) as discount_minor,
        coalesce(l.tax, 0) + o.shipping_tax_minor as tax_minor,
        coalesce(l.total, 0) + o.shipping_minor + iif(o.prices_include_tax, 0, o.shipping_tax_minor) as total_minor,
        (select coalesce(sum(amount_minor), 0) from ${payments} p
          where p.order_id = o.id and p.currency = o.currency) as received_minor,
        coalesce(r.amount, 0) as refunded_minor, coalesce(r.credited, 0) as credited_minor,
        case when o.payment_status = 'payment_processing' then o.payment_status
          when o.total_minor = 0 and o.paid_at is null then 'unpaid'
          when o.total_minor = 0 and r.order_id is null then 'paid'
          when o.total_minor = 0 then iif(l.is_refunded, 'refunded', 'partially_refunded')
          when o.received_minor > 0 and o.refunded_minor = o.received_minor then 'refunded'
          when ${sql.raw(dueMinor)} > 0 then iif(o.received_minor = 0, 'unpaid', 'partially_paid')
          else iif(o.credited_minor > 0, 'partially_refunded', 'paid') end as payment_status,
        case when coalesce(l.sent, 0) = 0 then 'unfulfilled' when l.unsent > 0 then 'partially_fulfilled'
          else 'fulfilled' end as fulfillment_status
      from ${orders} o
      left join (
        select order_id, sum(subtotal_minor) as subtotal, sum(discount_minor) as discount, sum(tax_minor) as tax,
          sum(total_minor) as total, min(refunded_quantity = quantity) as is_refunded, sum(fulfilled_quantity) as sent,
          sum(quantity - fulfilled_quantity - cancelled_quantity) as unsent
        from ${orderLines} l where ${inScope("l")} group by order_id) l on l.order_id = o.id
      left join (
        select order_id, sum(amount_minor) as amount, sum(credited_minor) as credited
        from ${orderRefunds} r where state <> 'failed' and ${inScope("r")} group by order_id) r on r.order_id = o.id
      where ${inScope("o")}`,
  ),
});

/**
 * Compares sent pieces with parcels, and refunded pieces with refunds. A refund does not say whether its pieces were
 * sent. So for a partly sent order, only the minimum number of cancelled pieces is known.
 */
export const orderPieces = recordCheck({
  remedy:
    "Pieces and refunded amounts are never changed. Compare the order with its parcels, its payments and a backup.",
  select: differencesFrom(
    orderLines,
    ["fulfilled_quantity", "cancelled_quantity", "refunded_quantity", "refunded_minor", "restocked_quantity"],
    sql`select l.tenant_id, l.id, coalesce(f.quantity, 0) as fulfilled_quantity,
        iif(o.fulfillment_status = 'fulfilled', l.quantity - l.fulfilled_quantity,
          max(l.cancelled_quantity, coalesce(r.quantity, 0) - l.fulfilled_quantity)) as cancelled_quantity,
        coalesce(r.quantity, 0) as refunded_quantity, coalesce(r.amount, 0) as refunded_minor,
        coalesce(r.restocked, 0) as restocked_quantity
      from ${orders} o join ${orderLines} l on l.order_id = o.id
      left join (
        select j.value ->> '$.line_id' as id, sum(j.value ->> '$.quantity') as quantity
        from ${fulfillments} f, json_each(f.lines) j where ${inScope("f")} group by 1) f on f.id = l.id
      left join (
        select j.value ->> '$.line_id' as id, sum(j.value ->> '$.quantity') as quantity,
          sum(j.value ->> '$.amount_minor') as amount,
          sum(iif(j.value ->> '$.restock', j.value ->> '$.quantity', 0)) as restocked
        from ${orderRefunds} r, json_each(r.lines) j where ${inScope("r")} group by 1) r on r.id = l.id
      where ${inScope("o")}`,
  ),
});

/** Checks the uses of discount codes and their counts. An order uses its code until it expires or is cancelled. */
export const discountCounts = recordCheck({
  select: sql`select * from (${differencesFrom(
    discounts,
    ["uses"],
    sql`select tenant_id, discount_id as id, count(*) as uses from ${discountUses} u where ${inScope("u")}
      group by tenant_id, discount_id`,
    rowOf(discounts, "id"),
  )})
    union all select o.tenant_id, o.id as record, 'discount_use' as field, iif(u.order_id is null, 'missing', 'present'),
      iif(u.order_id is null, 'present', 'missing'), null
    from ${orders} o left join ${discountUses} u on u.order_id = o.id where ${inScope("o")}
      and (o.discount_code is not null and o.status not in ('cancelled', 'expired')) is not (u.order_id is not null)`,
});

const findGaps = (table: typeof orders | typeof invoices, field: string) => sql`
  select tenant_id, concat_ws('-', before + 1, nullif(number - 1, before + 1)) as record, ${sql.raw(`'${field}'`)} as field,
    'missing' as found, 'present' as expected, null as target
  from (select tenant_id, number, lag(number, 1, 0) over (partition by tenant_id order by number) as before
    from ${table} o where ${inScope("o")})
  where number <> before + 1`;

export const numbers = recordCheck({
  remedy:
    "Records with these numbers are missing, and numbers are never reused. Find them in a backup, or record the gap in your books.",
  select: sql`${findGaps(orders, "number")} union all ${findGaps(invoices, "invoice")}`,
});

export const orderPoints = recordCheck({
  remedy: "Orders and the ledger are never changed. Correct the balance of a user with POST /rewards/adjust/.",
  select: differencesFrom(
    orders,
    ["points_used", "points_earned", "points_returned", "points_reversed"],
    sql`select tenant_id, order_id as id, max(iif(kind = 'redeem', -points, 0)) as points_used,
        sum(iif(kind = 'earn', points, 0)) as points_earned,
        sum(iif(kind = 'reverse' and source like '%:return%', points, 0)) as points_returned,
        sum(iif(kind = 'reverse' and source like '%:reverse', -points, 0)) as points_reversed
      from ${rewardEntries} e where order_id is not null and ${inScope("e")} group by tenant_id, order_id`,
  ),
});

export const rewards = recordCheck({
  remedy: "The ledger is never changed. Compare it with a backup, and correct balances with POST /rewards/adjust/.",
  select: sql`
    with sums as (
      select tenant_id, user_id, user_id as record, sum(balance) as balance, sum(remaining) as lots,
        sum(points) as right_balance, sum(points) as right_lots
      from (
        select tenant_id, user_id, balance, 0 as remaining, 0 as points from ${rewardBalances} b where ${inScope("b")}
        union all select tenant_id, user_id, 0, remaining, 0 from ${rewardLots} l where ${inScope("l")}
        union all select tenant_id, user_id, 0, 0, points from ${rewardEntries} e where ${inScope("e")})
      group by tenant_id, user_id)
    ${differences("sums", ["balance"], sql`iif(right_balance >= 0, ${rowOf(rewardBalances, "user_id")}, null)`)}
    union all ${differences("sums", ["lots"])}`,
});
