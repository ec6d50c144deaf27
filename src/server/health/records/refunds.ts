import { type SQL, sql } from "drizzle-orm";
import { all, param, run, statement } from "../../db/statement.ts";
import { orderLines, orderRefunds, orders } from "../../modules/orders/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";
import { isCoherent } from "./orders.ts";

/** SQL for common table expressions that sum up the refunds of each order and of each line. */
function refundSums(scope: (alias: string, column: string) => SQL): SQL {
  return sql`given as (
    select order_id, sum(amount_minor) as amount from ${orderRefunds} r where ${scope("r", "order_id")} group by order_id),
  pieces as (
    select r.order_id, case when j.type = 'object' then j.value else '{}' end as value
    from ${orderRefunds} r join json_each(r.lines) j where ${scope("r", "order_id")}),
  parts as (
    select order_id, value ->> '$.line_id' as line_id, sum(value ->> '$.quantity') as quantity,
      sum(value ->> '$.amount_minor') as amount,
      sum(case when value ->> '$.restock' then value ->> '$.quantity' else 0 end) as restocked
    from pieces group by order_id, line_id),
  lines as (
    select l.tenant_id, l.id as record, l.order_id as target,
      coalesce(p.quantity, 0) between 0 and l.quantity and coalesce(p.amount, 0) between 0 and l.total_minor
        and coalesce(p.restocked, 0) <= coalesce(p.quantity, 0) and coalesce(p.quantity, 0) >= l.refunded_quantity
        and coalesce(p.amount, 0) >= l.refunded_minor and coalesce(p.restocked, 0) >= l.restocked_quantity as fixable,
      l.refunded_quantity, coalesce(p.quantity, 0) as right_refunded_quantity,
      l.refunded_minor, coalesce(p.amount, 0) as right_refunded_minor,
      l.restocked_quantity, coalesce(p.restocked, 0) as right_restocked_quantity, l.quantity
    from ${orderLines} l left join parts p on p.line_id = l.id and p.order_id = l.order_id where ${scope("l", "order_id")}),
  whole as (
    select target as order_id, sum(quantity) = sum(right_refunded_quantity) as is_all from lines group by target),
  totals as (
    select *, is_sure and right_refunded_minor between refunded_minor and total_minor and case payment_status
        when 'refunded' then right_payment_status = 'refunded'
        when 'partially_refunded' then right_payment_status <> 'paid' else true end
      and not (status = 'paid' and right_payment_status = 'refunded') as fixable
    from (select o.tenant_id, o.id as record, o.status, o.total_minor, ${isCoherent("o")} as is_sure,
      o.refunded_minor, coalesce(g.amount, 0) as right_refunded_minor,
      o.payment_status, case when o.paid_at is null then 'unpaid' when g.order_id is null then 'paid'
        when g.amount = o.total_minor and w.is_all then 'refunded' else 'partially_refunded' end as right_payment_status
    from ${orders} o left join given g on g.order_id = o.id left join whole w on w.order_id = o.id
    where ${scope("o", "id")}))`;
}
const lineFields = ["refunded_quantity", "refunded_minor", "restocked_quantity"] as const;
const orderFields = ["refunded_minor", "payment_status"] as const;

const everything = refundSums(inScope);
const named = refundSums(isNamed);
const select = statement<Inconsistency>(sql`
  with ${everything} ${differences("totals", orderFields)} union all ${differences("lines", lineFields, "target")}
  union all
  select r.tenant_id, r.id, r.order_id, 'lines', 'unreadable', 'pieces of its lines', 0 from ${orderRefunds} r
  where ${inScope("r")} and (json_type(r.lines) <> 'array'
    or exists (select 1 from json_each(r.lines) j where j.type <> 'object'))`);
const fixLines = statement<{ id: string }>(sql`
  update ${orderLines} set refunded_quantity = r.right_refunded_quantity, refunded_minor = r.right_refunded_minor,
    restocked_quantity = r.right_restocked_quantity
  from (with ${named} select * from lines where fixable and (refunded_quantity <> right_refunded_quantity
    or refunded_minor <> right_refunded_minor or restocked_quantity <> right_restocked_quantity)) r
  where ${orderLines}.order_id = r.target and ${orderLines}.id = r.record returning order_id as id`);
const fixOrders = statement<{ id: string }>(sql`
  update ${orders} set refunded_minor = r.right_refunded_minor, payment_status = r.right_payment_status
  from (with ${named} select * from totals where fixable and (refunded_minor <> right_refunded_minor
    or payment_status <> right_payment_status)) r
  where ${orders}.id = r.record returning id`);
const touch = statement(sql`
  update ${orders} set version = version + 1, updated_at = ${param("now")}
  where ${isNamed('"orders"')}`);

export const refunds: RecordCheck = {
  id: "refunds",
  about: "The refunded amounts of orders and lines, and the payment status, agree with the refunds.",
  remedy: "A refunded amount is never lowered, nor raised above the total. Compare it with the payment and a backup.",
  select,
  async fix(tx, params) {
    const fixed = [...(await all(tx.db, fixLines, params)), ...(await all(tx.db, fixOrders, params))].map(
      ({ id }) => id,
    );
    if (fixed.length > 0) await run(tx.db, touch, { ...params, ids: JSON.stringify(fixed) });
    return fixed.length;
  },
};
