import { type SQL, sql } from "drizzle-orm";
import { discounts, discountUses } from "../../modules/discounts/table.ts";
import { dueMinor } from "../../modules/orders/statements.ts";
import { fulfillments, orderLines, orderRefunds, orders, payments } from "../../modules/orders/table.ts";
import { rewardBalances, rewardEntries, rewardLots } from "../../modules/rewards/table.ts";
import { differences, differencesFrom, inScope, recordCheck, rowOf } from "./check.ts";

/** SQL for whether status and times of an order agree. Orders for which they do not fix no values. */
export function isCoherent(alias: string): SQL {
  const of = (column: string) => sql.raw(`${alias}.${column}`);
  return sql`(case ${of("status")}
    when 'paid' then ${of("payment_status")} <> 'unpaid' and ${of("paid_at")} is not null
    when 'completed' then ${of("payment_status")} <> 'unpaid' and ${of("paid_at")} is not null
    when 'pending' then ${of("payment_status")} not in ('paid', 'partially_refunded') and ${of("paid_at")} is null
    when 'cancelled' then ${of("paid_at")} is null or ${of("payment_status")} in ('refunded', 'partially_refunded')
    else ${of("paid_at")} is null end
    and (${of("status")} = 'completed') = (${of("fulfillment_status")} = 'fulfilled')
    and (${of("status")} = 'completed') = (${of("fulfilled_at")} is not null)
    and (${of("status")} = 'cancelled') = (${of("cancelled_at")} is not null))`;
}

export const orderStates = recordCheck({
  remedy: "Compare the order with the payment and a backup. The stock that such an order may reserve is not fixed.",
  select: sql`
    select tenant_id, id as record, 'states' as field,
      concat_ws(', ', status, payment_status, fulfillment_status, case when paid_at is not null then 'paid_at' end,
        case when fulfilled_at is not null then 'fulfilled_at' end,
        case when cancelled_at is not null then 'cancelled_at' end) as found,
      'consistent statuses' as expected, null as target
    from ${orders} o where not ${isCoherent("o")} and ${inScope("o")}`,
});

export const orderTotals = recordCheck({
  remedy:
    "A total is never changed. Cancel the order if it is unpaid; otherwise compare it with the payment and a backup.",
  select: differencesFrom(
    orders,
    ["subtotal_minor", "discount_minor", "tax_minor", "total_minor"],
    sql`select o.tenant_id, o.id, coalesce(sum(l.subtotal_minor), 0) as subtotal_minor,
        coalesce(sum(l.discount_minor), 0) as discount_minor,
        coalesce(sum(l.tax_minor), 0) + o.shipping_tax_minor as tax_minor,
        coalesce(sum(l.total_minor), 0) + o.shipping_minor + iif(o.prices_include_tax, 0, o.shipping_tax_minor) as total_minor
      from ${orders} o left join ${orderLines} l on l.order_id = o.id where ${inScope("o")} group by o.tenant_id, o.id`,
  ),
});

/** Checks that what was received, returned and credited are the sums of payments and of refunds that have not failed. */
export const orderMoney = recordCheck({
  remedy: "Payments and refunds are never changed. Compare the order with the payment and a backup.",
  select: differencesFrom(
    orders,
    ["received_minor", "refunded_minor", "credited_minor"],
    sql`select o.tenant_id, o.id,
        (select coalesce(sum(amount_minor), 0) from ${payments} where order_id = o.id) as received_minor,
        (select coalesce(sum(amount_minor), 0) from ${orderRefunds} where order_id = o.id and state <> 'failed') as refunded_minor,
        (select coalesce(sum(credited_minor), 0) from ${orderRefunds} where order_id = o.id and state <> 'failed') as credited_minor
      from ${orders} o where ${inScope("o")}`,
  ),
});

/** Checks that the pieces that were sent are those of the parcels. */
export const orderPieces = recordCheck({
  remedy: "Compare the order with its parcels and a backup.",
  select: differencesFrom(
    orderLines,
    ["fulfilled_quantity"],
    sql`select f.tenant_id, j.value ->> '$.line_id' as id, sum(j.value ->> '$.quantity') as fulfilled_quantity
      from ${fulfillments} f, json_each(f.lines) j where ${inScope("f")} group by f.tenant_id, j.value ->> '$.line_id'`,
  ),
});

/** Checks that the uses of a discount code are its orders. */
export const discountCounts = recordCheck({
  select: differencesFrom(
    discounts,
    ["uses"],
    sql`select tenant_id, discount_id as id, count(*) as uses from ${discountUses} u where ${inScope("u")}
      group by tenant_id, discount_id`,
    rowOf(discounts, "id"),
  ),
});

export const numbers = recordCheck({
  remedy:
    "Orders with these numbers are missing, and numbers are never reused. Find them in a backup, or record the gap in your books.",
  select: sql`
    select tenant_id, case when number = before + 2 then cast(before + 1 as text) else (before + 1) || '-' || (number - 1) end
      as record, 'number' as field, 'missing' as found, 'present' as expected, null as target
    from (select tenant_id, number, lag(number, 1, 0) over (partition by tenant_id order by number) as before
      from ${orders} o where ${inScope("o")})
    where number <> before + 1`,
});

export const orderPoints = recordCheck({
  remedy:
    "Orders and the ledger disagree, and neither is changed. Correct the balance of a user with POST /rewards/adjust/.",
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

export const refunds = recordCheck({
  remedy: "A refunded amount is never changed. Compare it with the payment and a backup.",
  select: sql`
    with parts as (
      select r.order_id, j.value ->> '$.line_id' as line_id, sum(j.value ->> '$.quantity') as quantity,
        sum(j.value ->> '$.amount_minor') as amount,
        sum(iif(j.value ->> '$.restock', j.value ->> '$.quantity', 0)) as restocked
      from ${orderRefunds} r join json_each(r.lines) j on j.type = 'object' where ${inScope("r")} group by r.order_id, line_id),
    lines as (
      select l.tenant_id, l.id as record, l.order_id, l.quantity,
        l.refunded_quantity, coalesce(p.quantity, 0) as right_refunded_quantity,
        l.refunded_minor, coalesce(p.amount, 0) as right_refunded_minor,
        l.restocked_quantity, coalesce(p.restocked, 0) as right_restocked_quantity
      from ${orderLines} l left join parts p on p.line_id = l.id and p.order_id = l.order_id where ${inScope("l")}),
    whole as (
      select order_id, sum(quantity) = sum(right_refunded_quantity) as is_all from lines group by order_id),
    totals as (
      select o.tenant_id, o.id as record, o.payment_status, case
          when o.total_minor = 0 and o.paid_at is null then 'unpaid'
          when o.total_minor = 0 and not exists (select 1 from ${orderRefunds} where order_id = o.id) then 'paid'
          when o.total_minor = 0 then iif(w.is_all, 'refunded', 'partially_refunded')
          when o.received_minor > 0 and o.refunded_minor = o.received_minor then 'refunded'
          when ${sql.raw(dueMinor)} > 0 then iif(o.received_minor = 0, 'unpaid', 'partially_paid')
          else iif(o.credited_minor > 0, 'partially_refunded', 'paid') end as right_payment_status
      from ${orders} o left join whole w on w.order_id = o.id
      where ${inScope("o")} and o.payment_status <> 'payment_processing')
    ${differences("totals", ["payment_status"])}
    union all ${differences("lines", ["refunded_quantity", "refunded_minor", "restocked_quantity"])}
`,
});

export const rewards = recordCheck({
  remedy:
    "The ledger is never changed. Compare it with a backup, and correct the balance of a user with POST /rewards/adjust/.",
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
