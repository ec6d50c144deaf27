import { and, eq, lte, sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import { all, byId, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { workThrough } from "../tenants/service.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { needAttention } from "./attention/attention.ts";
import { orderAttention } from "./attention/table.ts";
import { changedColumns, commitTransition, releaseOrder } from "./commit-transition.ts";
import { orders } from "./table.ts";

// An order that is paid in part waits for staff, who are asked once.
const isAsked = sql`exists (select 1 from ${orderAttention} where order_id = o.id and kind = 'partial_payment')`;
const selectDue = statement<{ id: string; tenant: string; isPartlyPaid: number }>(sql`
  select o.id, ${tenantForWork} as tenant, o.received_minor > o.refunded_minor as isPartlyPaid
  from ${orders} o indexed by orders_by_expiry join ${tenants} t on t.id = o.tenant_id
  where o.status = 'pending' and o.expires_at <= ${param("now")} and not (o.received_minor > o.refunded_minor and ${isAsked})
  order by o.expires_at limit ${param("max")}`);
// If several processes try, only one of them finds the order pending.
const expirePending = statement((q) =>
  q
    .update(orders)
    .set({ status: "expired" })
    .where(
      and(
        byId(orders),
        eq(orders.status, "pending"),
        eq(orders.receivedMinor, orders.refundedMinor),
        lte(orders.expiresAt, param("now")),
      ),
    )
    .returning(changedColumns),
);

export async function expireDueOrders(ctx: WorkCtx): Promise<number> {
  const due = await all(ctx.db, selectDue, { now: toTimestamp(ctx.now()), max: 100 });
  return workThrough(ctx, due, (work, { id, isPartlyPaid }) =>
    inTransaction(work, async (tx) => {
      const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
      if (isPartlyPaid) {
        await needAttention(tx, id, "partial_payment");
        await commitTransition(tx, id, { event: "order.updated" });
        return true;
      }
      const order = await get(tx.db, expirePending, values);
      if (order) await releaseOrder(tx, order, "expire");
      return order !== undefined;
    }),
  );
}
