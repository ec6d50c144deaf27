import { sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { all, byId, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { workThrough } from "../tenants/service.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { needAttention } from "./attention/attention.ts";
import { orderAttention } from "./attention/table.ts";
import { canBePaid, isProcessing } from "./checkouts/table.ts";
import { commitTransition, releaseOrder } from "./commit-transition.ts";
import { orders } from "./table.ts";

// Whether staff were asked about an order that is paid in part, and the question is open or was decided. A question
// also ends when its reason is gone. Staff can then be asked again.
const isAsked = sql`exists (select 1 from ${orderAttention} where order_id = o.id and kind = 'partial_payment'
  and (ended_at is null or action is not null))`;
// An order does not expire while a payment is in progress. An open payment page delays the expiry by at most an hour.
const waits = (order: "o" | "orders") => sql`(${isProcessing(`${order}.id`)}
  or (${canBePaid(`${order}.id`)} and ${sql.raw(order)}.expires_at > ${param("giveUpAt")}))`;
const giveUpMs = 3_600_000;
const selectDue = statement<{ id: string; tenant: string; isPartlyPaid: number }>(sql`
  select o.id, ${tenantForWork} as tenant, o.received_minor > o.refunded_minor as isPartlyPaid
  from ${orders} o indexed by orders_by_expiry join ${tenants} t on t.id = o.tenant_id
  where o.status = 'pending' and o.expires_at <= ${param("now")} and not (o.received_minor > o.refunded_minor and ${isAsked})
    and not ${waits("o")}
  order by o.expires_at limit ${param("max")}`);
// If several processes try this, only one of them finds the order pending, so the order expires only once.
const expirePending = statement(sql`
  update ${orders} set status = 'expired'
  where ${byId(orders)} and status = 'pending' and received_minor = refunded_minor and expires_at <= ${param("now")}
    and not ${waits("orders")}`);

const timesOf = ({ now }: Pick<WorkCtx, "now">) => ({
  now: toTimestamp(now()),
  giveUpAt: toTimestamp(now() - giveUpMs),
});

export async function expireDueOrders(ctx: WorkCtx & Pick<Ctx, "vault">): Promise<number> {
  const due = await all(ctx.db, selectDue, { ...timesOf(ctx), max: 100 });
  return workThrough(ctx, due, (work, { id, isPartlyPaid }) =>
    inTransaction(work, async (tx) => {
      if (isPartlyPaid) {
        await needAttention(tx, id, "partial_payment");
        await commitTransition(tx, id, { event: "order.updated" });
        return true;
      }
      const isExpired = await run(tx.db, expirePending, { tenantId: tx.tenant.id, id, ...timesOf(tx) });
      if (isExpired) await releaseOrder(tx, id, "expire");
      return isExpired > 0;
    }),
  );
}
