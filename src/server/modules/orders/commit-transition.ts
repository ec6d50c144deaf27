import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, byId, ofStore, param, rowsOf, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { moveStock, type StockReason } from "../catalogue/products/stock.ts";
import { releaseDiscount } from "../discounts/use.ts";
import type { EventType } from "../events/model.ts";
import type { OrderMailKind } from "../mail/kinds.ts";
import { notifiableEvents } from "../notifications/messages/compose.ts";
import { compileNotice } from "../notifications/messages/messages.ts";
import { returnPoints, reversePoints } from "../rewards/ledger.ts";
import { shareOf } from "./amounts.ts";
import { requireStore } from "./input.ts";
import { mailOrder } from "./mails/mails.ts";
import { type OrderRow, ofOrder, requireRow } from "./read.ts";
import { bumpOrder, insertEvent, type OrderCtx, selectOrderFor } from "./statements.ts";
import { orderLines, orders } from "./table.ts";

const noticeLifetimeMs = 86_400_000;

/** Selects the items with counted stock of an order, and the number of pieces of each item. */
export const selectCounted = statement((q) =>
  q
    .select({
      productId: orderLines.productId,
      variantId: orderLines.variantId,
      quantity: sql<number>`sum(${orderLines.quantity})`,
    })
    .from(orderLines)
    .where(sql`${ofOrder} and is_counted`)
    .groupBy(orderLines.productId, orderLines.variantId)
    .orderBy(orderLines.productId, orderLines.variantId),
);
// Contains no personal data, because notifications appear on locked screens.
const insertNotice = compileNotice(sql`
  select tenant_id, user_id, json_object('type', ${param("type")}, 'order_id', id, 'number', number,
    'status', status) as content
  from ${orders} where ${byId(orders)} and user_id is not null`);

export interface OrderChange {
  event: EventType;
  stock?: ["release" | "commit", StockReason];
  /** Statements that run before the event is recorded. */
  first?: InStatement[];
  /** The kind of the mail about this change, and the id of the mail's cause (default: the order's id). */
  mail?: [kind: OrderMailKind, cause?: string] | undefined;
}

/** Changes stock, records version and event of a change, notifies the customer, and returns the order, in one batch. */
export async function commitTransition(tx: OrderCtx, id: string, change: OrderChange): Promise<Rendered> {
  const { event: type, stock, first = [], mail } = change;
  const values = { tenantId: tx.tenant.id, id, type, now: toTimestamp(tx.now()) };
  const counted = stock ? await all(tx.db, selectCounted, values) : [];
  const statements = [
    ...first,
    ...(stock ? moveStock(tx, stock[0], counted, stock[1]) : []),
    bind(bumpOrder, values),
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
  if (mail) await mailOrder(tx, id, ...mail);
  return order;
}

/**
 * Changes an order in a transaction, for staff and backends. `plan` returns the change. `plan` gets `values`, which are
 * parameters that most statements need.
 * @throws forbidden, notFound, preconditionFailed for another version, the errors of `plan`.
 */
export function changeOrder(
  ctx: Ctx,
  id: string,
  ifMatch: number | null,
  plan: (tx: Ctx, order: OrderRow, values: Record<"tenantId" | "id" | "now", string>) => Promise<OrderChange>,
): Promise<Rendered> {
  requireStore(ctx);
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, id, ifMatch);
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
    return commitTransition(tx, id, await plan(tx, order, values));
  });
}

/** Releases stock, points and code of an order that was just cancelled or expired. */
export async function releaseOrder(tx: OrderCtx, id: string, how: "cancel" | "expire"): Promise<Rendered> {
  const { userId, pointsUsed: points } = await requireRow(tx, id);
  if (userId !== null && points > 0) {
    await returnSpentPoints(tx, { userId, points, source: `order:${id}:${how}`, orderId: id, cause: id });
  }
  const status = how === "cancel" ? "cancelled" : "expired";
  return commitTransition(tx, id, {
    event: `order.${status}`,
    stock: ["release", how],
    first: [releaseDiscount(tx, id)],
    mail: [`order_${status}`],
  });
}

const selectOthers = statement((q) =>
  q
    .select()
    .from(orders)
    .where(sql`${ofStore(orders)} and user_id = ${param("userId")} and id <> ${param("orderId")}
      and refunded_minor > 0 and points_reversed < points_earned`)
    .orderBy(orders.createdAt, orders.id),
);
const addReversed = statement(sql`
  update ${orders} set points_reversed = points_reversed + ${param("reversed")} where ${byId(orders)}`);

/**
 * Returns spent points of an order to the customer. When other orders were refunded, the balance may have been too low
 * to take back all points that these orders earned. Takes back such points now, at most as many as were returned.
 * @param returning `cause` is the id of the refund, or of the order that was not paid.
 * @param earlier how many points of the order were returned before.
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
    await tx.db.batch([bind(addReversed, change), bind(bumpOrder, change), bind(insertEvent, change)]);
  }
}
