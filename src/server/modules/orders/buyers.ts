import { and, countDistinct, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, ofStore, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { users } from "../users/table.ts";
import { cancelOrder } from "./cancel.ts";
import { canBePaid } from "./checkouts/table.ts";
import { orderLines, orders } from "./table.ts";

const isUnpaid = and(ofStore(orders), eq(orders.status, "pending"));
/** SQL for a customer's id, the keyed hash of a guest's IP address, or `staff` for a guest whom staff ordered for. */
const buyer = sql<string>`coalesce(${orders.buyer}, ${orders.userId}, 'staff')`;
const selectBuyers = statement((q) =>
  q
    .select({
      buyer,
      email: users.email,
      orders: countDistinct(orders.id),
      pieces: sql<number>`sum(${orderLines.quantity})`,
      since: sql<string>`min(${orders.createdAt})`,
      expires_at: sql<string>`min(${orders.expiresAt})`,
    })
    .from(orders)
    .innerJoin(orderLines, eq(orderLines.orderId, orders.id))
    .leftJoin(users, and(eq(users.tenantId, orders.tenantId), eq(users.id, buyer)))
    .where(isUnpaid)
    .groupBy(buyer)
    .orderBy(sql`pieces desc, since`)
    .limit(sql.placeholder("limit")),
);
const selectOfBuyer = statement((q) =>
  q
    .select(pick(orders, "id", "number"))
    .from(orders)
    .where(
      and(isUnpaid, eq(buyer, param("buyer")), sql`received_minor = refunded_minor and not ${canBePaid("orders.id")}`),
    )
    .orderBy(orders.number),
);

/** Lists buyers with unpaid orders, those who reserve the most pieces first. */
export function listBuyers(ctx: Ctx, limit: number) {
  return all(ctx.db, selectBuyers, { tenantId: ctx.tenant.id, limit });
}

/** Cancels the unpaid orders of a buyer, except partly paid ones. Returns the numbers of the cancelled orders. */
export function cancelUnpaid(ctx: Ctx, buyer: string): Promise<number[]> {
  return inTransaction(ctx, async (tx) => {
    const unpaid = await all(tx.db, selectOfBuyer, { tenantId: tx.tenant.id, buyer });
    for (const { id } of unpaid) await cancelOrder(tx, id);
    return unpaid.map(({ number }) => number);
  });
}
