import { sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { all, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { tenants } from "../tenants/table.ts";
import { tenantForWork } from "../tenants/work.ts";
import { type ChangedOrder, changedColumns, endUnpaid } from "./settle.ts";
import { thisOrder, touched } from "./statements.ts";
import { orders } from "./table.ts";

const portion = 100;

interface DueOrder {
  order_id: string;
  tenant: string;
}

const selectDue = statement<DueOrder>(sql`
  select o.id as order_id, ${tenantForWork} as tenant
  from ${orders} o join ${tenants} t on t.id = o.tenant_id
  where o.status = 'pending' and o.expires_at <= ${param("now")} order by o.expires_at limit ${param("portion")}`);
// Whoever else sweeps, one of them finds it pending.
const expirePending = statement<ChangedOrder>(sql`
  update ${orders} set status = 'expired', ${touched}
  where ${thisOrder} and status = 'pending' and expires_at <= ${param("now")} returning ${changedColumns}`);

/**
 * Expires orders that nobody has paid in time, at most a portion of them, each in a transaction of its own: their
 * pieces can be sold again, and their points come back. One that fails does not keep the others waiting.
 * @returns how many it has expired; none when there is nothing left to do.
 */
export async function expireDueOrders(ctx: Pick<SystemCtx, "db" | "now">): Promise<number> {
  const due = await all(ctx.db, selectDue, { now: toTimestamp(ctx.now()), portion });
  let expired = 0;
  let failure: unknown;
  for (const { order_id: id, tenant } of due) {
    try {
      if (await expireOrder({ ...ctx, tenant: JSON.parse(tenant) as Tenant }, id)) expired += 1;
    } catch (error) {
      if (error instanceof AppError && error.kind === "unavailable") throw error;
      failure ??= error;
    }
  }
  if (expired === 0 && failure !== undefined) throw failure;
  return expired;
}

function expireOrder(ctx: Pick<SystemCtx, "db" | "now"> & { tenant: Tenant }, id: string): Promise<boolean> {
  return inTransaction(ctx, async (tx) => {
    const order = await get(tx.db, expirePending, { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) });
    if (order) await endUnpaid(tx, order, "expire");
    return order !== undefined;
  });
}
