import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { all, param, statement } from "../../db/statement.ts";
import type { EventType } from "../events/types.ts";
import { moveStock, type StockReason } from "../products/stock.ts";
import { givePointsBack } from "../rewards/ledger.ts";
import { lastRow } from "./create.ts";
import { orderNotice } from "./notice.ts";
import type { RenderedOrder } from "./rendering.ts";
import { type OrderCtx, orderEvent, readOrder } from "./statements.ts";
import { orderLines } from "./table.ts";

/** What a guarded update answers of the order that it changed. */
export interface ChangedOrder {
  id: string;
  user_id: string | null;
  total_minor: number;
  points_used: number;
}

/** SQL for the columns of `ChangedOrder`. */
export const changedColumns = sql`id, user_id, total_minor, points_used`;

interface CountedItem {
  productId: string;
  variantId: string | null;
  quantity: number;
}

const selectCounted = statement<CountedItem>(sql`
  select product_id as productId, variant_id as variantId, sum(quantity) as quantity from ${orderLines}
  where tenant_id = ${param("tenantId")} and order_id = ${param("id")} and is_counted
  group by product_id, variant_id order by product_id, variant_id`);

/**
 * What follows from an order's new state, inside its transaction: pieces move, the event is written, the
 * customer's devices are told, and the order is read as it stands then.
 * @param first statements that come before, such as a change of the order that was not known at its guarded update.
 */
export async function settleOrder(
  tx: OrderCtx,
  id: string,
  change: { event: EventType; stock?: ["release" | "commit", StockReason]; first?: InStatement[] },
): Promise<RenderedOrder> {
  const counted = change.stock ? await all(tx.db, selectCounted, { tenantId: tx.tenant.id, id }) : [];
  const [kind, reason] = change.stock ?? (["release", "cancel"] as const);
  return lastRow(
    await tx.db.batch([
      ...(change.first ?? []),
      ...counted.flatMap((item) => moveStock(tx, kind, item, reason)),
      orderEvent(tx, id, change.event),
      ...orderNotice(tx, id, change.event),
      readOrder(tx, id),
    ]),
  );
}

/** Ends an order that nobody paid, once its state says so: its pieces are free, its points come back. */
export async function endUnpaid(tx: OrderCtx, order: ChangedOrder, how: "cancel" | "expire"): Promise<RenderedOrder> {
  const { id, user_id: userId, points_used: points } = order;
  if (userId !== null && points > 0) {
    await givePointsBack(tx, { userId, points, source: `order:${id}:${how}`, orderId: id });
  }
  const event = how === "cancel" ? "order.cancelled" : "order.expired";
  return settleOrder(tx, id, { event, stock: ["release", how] });
}
