import { sql } from "drizzle-orm";
import { all, bind, byId, ofStore, param, statement } from "../../db/statement.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { returnPoints, reversePoints } from "../rewards/ledger.ts";
import { shareOf } from "./amounts.ts";
import { bumpVersion, insertEvent, type OrderCtx } from "./statements.ts";
import { orders } from "./table.ts";

const selectOthers = statement((q) =>
  q
    .select()
    .from(orders)
    .where(sql`${ofStore(orders)} and user_id = ${param("userId")} and id <> ${param("orderId")}
      and refunded_minor > 0 and points_reversed < points_earned`)
    .orderBy(orders.createdAt, orders.id),
);
const addReversed = statement((q) =>
  q
    .update(orders)
    .set({ pointsReversed: sql`points_reversed + ${param("reversed")}`, ...bumpVersion })
    .where(byId(orders)),
);

/**
 * Returns points that an order spent; `earlier` points were returned before. Up to as many are then reversed for
 * refunds of the customer's other orders, which could not reverse them before. `cause` is the id of a refund, or of an
 * unpaid order.
 */
export async function returnSpentPoints(
  tx: OrderCtx,
  returning: { userId: string; orderId: string; points: number; source: string; cause: string },
  earlier = 0,
): Promise<void> {
  let left = await returnPoints(tx, returning, earlier);
  const { userId, orderId, cause } = returning;
  const values = { tenantId: tx.tenant.id, now: toTimestamp(tx.now()), type: "order.refunded" };
  for (const { id, ...other } of await all(tx.db, selectOthers, { ...values, userId, orderId })) {
    const owed = shareOf(other.pointsEarned, other.refundedMinor, other.totalMinor) - other.pointsReversed;
    const points = Math.min(owed, left);
    if (points <= 0) continue;
    const source = `order:${id}:refund:${cause}:reverse`;
    const reversed = await reversePoints(tx, { userId, orderId: id, points, source });
    left -= reversed;
    const change = { ...values, id, reversed, eventId: newId("evt") };
    await tx.db.batch([bind(addReversed, change), bind(insertEvent, change)]);
  }
}
