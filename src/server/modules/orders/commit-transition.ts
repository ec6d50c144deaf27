import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { all, bind, byId, ofStore, param, rowsOf, statement } from "../../db/statement.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { moveStock, type StockReason } from "../catalogue/products/stock.ts";
import { releaseDiscount } from "../discounts/use.ts";
import type { EventType } from "../events/model.ts";
import { notifiableEvents } from "../notifications/messages/compose.ts";
import { compileNotice } from "../notifications/messages/messages.ts";
import { returnPoints, reversePoints } from "../rewards/ledger.ts";
import { shareOf } from "./amounts.ts";
import { bumpVersion, insertEvent, type OrderCtx, selectOrderFor } from "./statements.ts";
import { orderLines, orders } from "./table.ts";

const noticeLifetimeMs = 86_400_000;

export interface ChangedOrder {
  id: string;
  user_id: string | null;
  total_minor: number;
  points_used: number;
}

export const changedColumns = {
  ...{ id: orders.id, user_id: orders.userId },
  ...{ total_minor: orders.totalMinor, points_used: orders.pointsUsed },
};

/** The pieces of each item of an order whose stock is counted. */
export const selectCounted = statement((q) =>
  q
    .select({
      productId: orderLines.productId,
      variantId: orderLines.variantId,
      quantity: sql<number>`sum(${orderLines.quantity})`,
    })
    .from(orderLines)
    .where(sql`tenant_id = ${param("tenantId")} and order_id = ${param("id")} and is_counted`)
    .groupBy(orderLines.productId, orderLines.variantId)
    .orderBy(orderLines.productId, orderLines.variantId),
);
// No personal data: notifications appear on locked screens.
const insertNotice = compileNotice(sql`
  select tenant_id, user_id, json_object('type', ${param("type")}, 'order_id', id, 'number', number,
    'status', status) as content
  from ${orders} where ${byId(orders)} and user_id is not null`);

export interface OrderChange {
  event: EventType;
  stock?: ["release" | "commit", StockReason];
  /** Further statements, which run before the event is recorded. */
  first?: InStatement[];
}

/** Changes stock, records the event, notifies the customer and reads the order, in one batch. */
export async function commitTransition(tx: OrderCtx, id: string, change: OrderChange): Promise<Rendered> {
  const { event: type, stock, first = [] } = change;
  const values = { tenantId: tx.tenant.id, id, type, now: toTimestamp(tx.now()) };
  const counted = stock ? await all(tx.db, selectCounted, values) : [];
  const statements = [
    ...first,
    ...(stock ? moveStock(tx, stock[0], counted, stock[1]) : []),
    bind(insertEvent, { ...values, eventId: newId("evt") }),
  ];
  if ((notifiableEvents as readonly string[]).includes(type)) {
    const expiresAt = toTimestamp(tx.now() + noticeLifetimeMs);
    statements.push(bind(insertNotice, { ...values, messageId: newId("msg"), expiresAt }));
  }
  const selectOrder = selectOrderFor(tx);
  const results = await tx.db.batch([...statements, bind(selectOrder, { ...values, own: null })]);
  const [order] = rowsOf(selectOrder, results.at(-1));
  if (!order) throw new Error("An order was written but cannot be read");
  return order;
}

export async function releaseOrder(tx: OrderCtx, order: ChangedOrder, how: "cancel" | "expire"): Promise<Rendered> {
  const { id, user_id: userId, points_used: points } = order;
  if (userId !== null && points > 0) {
    await returnSpentPoints(tx, { userId, points, source: `order:${id}:${how}`, orderId: id, cause: id });
  }
  const event = how === "cancel" ? "order.cancelled" : "order.expired";
  return commitTransition(tx, id, { event, stock: ["release", how], first: releaseDiscount(tx, id) });
}

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
 * Returns points that an order spent; `earlier` is how many were returned before. If refunds of the customer's other
 * orders could not reverse all earned points, this reverses the rest, up to the returned points. `cause` is the id of a
 * refund, or of an unpaid order.
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
