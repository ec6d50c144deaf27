import { and, eq, lte, sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import { all, byId, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { workThrough } from "../tenants/work.ts";
import { changedColumns, releaseOrder } from "./commit-transition.ts";
import { expiryMs } from "./create.ts";
import { bumpVersion } from "./statements.ts";
import { orders } from "./table.ts";

// Orders of a store expire in the order of creation, for which there is an index.
const selectDue = statement<{ id: string; tenant: string }>(sql`
  select o.id, ${tenantForWork} as tenant
  from ${tenants} t cross join ${orders} o indexed by orders_by_status
    on o.tenant_id = t.id and o.status = 'pending' and o.created_at <= ${param("createdTo")}
  where o.expires_at <= ${param("now")} limit ${param("max")}`);
// If several processes try, only one of them finds the order pending.
const expirePending = statement((q) =>
  q
    .update(orders)
    .set({ status: "expired", ...bumpVersion })
    .where(and(byId(orders), eq(orders.status, "pending"), lte(orders.expiresAt, param("now"))))
    .returning(changedColumns),
);

export async function expireDueOrders(ctx: WorkCtx): Promise<number> {
  const now = ctx.now();
  const values = { now: toTimestamp(now), createdTo: toTimestamp(now - expiryMs), max: 100 };
  const due = await all(ctx.db, selectDue, values);
  return workThrough(ctx, due, (work, { id }) =>
    inTransaction(work, async (tx) => {
      const order = await get(tx.db, expirePending, { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) });
      if (order) await releaseOrder(tx, order, "expire");
      return order !== undefined;
    }),
  );
}
