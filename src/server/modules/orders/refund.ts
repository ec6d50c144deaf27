import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, get, param, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { preconditionFailed, wrongState } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toAmount } from "../../values/money.ts";
import { checkNote } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { moveStock } from "../products/stock.ts";
import { clawBackPoints, givePointsBack } from "../rewards/ledger.ts";
import { shareOf } from "./amounts.ts";
import { lastRow } from "./create.ts";
import type { RefundInput } from "./model.ts";
import { orderNotice } from "./notice.ts";
import { requireStore } from "./ownership.ts";
import { type PaidLine, planRefund, type RefundPlan } from "./refund-plan.ts";
import type { RenderedOrder } from "./rendering.ts";
import { noSuchOrder, orderEvent, readOrder, requireOrderId, selectState, thisOrder, touched } from "./statements.ts";
import { orderLines, orderRefunds, orders } from "./table.ts";

const maxReason = 500;

interface PaidOrder {
  user_id: string | null;
  currency_digits: number;
  subtotal_minor: number;
  total_minor: number;
  refunded_minor: number;
  points_used: number;
  points_earned: number;
  points_returned: number;
  points_reversed: number;
}

// The first statement of the transaction, so that whatever is read after it stays as it is until the end.
const takeOrder = statement<PaidOrder>(sql`
  update ${orders} set ${touched}
  where ${thisOrder} and payment_status in ('paid', 'partially_refunded')
    and version = coalesce(${param("ifMatch")}, version)
  returning user_id, currency_digits, subtotal_minor, total_minor, refunded_minor, points_used, points_earned,
    points_returned, points_reversed`);
const selectLines = statement<PaidLine>(sql`
  select id, product_id as productId, variant_id as variantId, quantity, subtotal_minor as subtotal,
    total_minor as total, is_counted as isCounted, refunded_quantity as refundedQuantity,
    refunded_minor as refunded from ${orderLines}
  where tenant_id = ${param("tenantId")} and order_id = ${param("id")} order by position`);
const giveBackLine = statement(sql`
  update ${orderLines} set refunded_quantity = refunded_quantity + ${param("quantity")},
    refunded_minor = refunded_minor + ${param("amount")}, restocked_quantity = restocked_quantity + ${param("restocked")}
  where tenant_id = ${param("tenantId")} and id = ${param("lineId")}`);
const insertRefund = statement(sql`
  insert into ${orderRefunds} (id, tenant_id, order_id, amount_minor, lines, reason, points_returned, points_reversed,
    created_at)
  values (${param("refundId")}, ${param("tenantId")}, ${param("id")}, ${param("amount")}, ${param("lines")},
    ${param("reason")}, ${param("returned")}, ${param("reversed")}, ${param("now")})`);
const giveBackOrder = statement(sql`
  update ${orders} set refunded_minor = refunded_minor + ${param("amount")},
    points_returned = points_returned + ${param("returned")}, points_reversed = points_reversed + ${param("reversed")},
    payment_status = case when ${param("isFull")} then 'refunded' else 'partially_refunded' end,
    cancelled_at = case when ${param("isFull")} and status = 'paid' then ${param("now")} else cancelled_at end,
    status = case when ${param("isFull")} and status = 'paid' then 'cancelled' else status end
  where ${thisOrder}`);

/**
 * Gives money back: for pieces of lines, or without lines all that is left, with shipping. Points that were used come
 * back and points that were earned are taken back in the same proportion; with `restock` the pieces can be sold again.
 * @param ifMatch the version that must stand; null for any.
 * @param isDryRun all of it happens, is answered, and is undone.
 * @throws forbidden for customers, notFound, preconditionFailed, validationFailed for a line that is not the order's, wrongState for more than is left.
 */
export async function refundOrder(
  ctx: Ctx,
  id: string,
  input: RefundInput = {},
  ifMatch: number | null = null,
  isDryRun = false,
): Promise<RenderedOrder> {
  requireStore(ctx);
  requireOrderId(id);
  const reason = checkNote("reason", input.reason ?? null, maxReason);
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()), ifMatch };
    const order = await get(tx.db, takeOrder, values);
    if (!order) throw await explainRefusal(tx, values);
    const lines = await all(tx.db, selectLines, values);
    const left = order.total_minor - order.refunded_minor;
    const plan = planRefund(lines, left, input.lines, input.restock ?? false);
    const refundId = newId("ref");
    const points = await movePoints(tx, order, plan, `order:${id}:refund:${refundId}`, id);
    return lastRow(
      await tx.db.batch([
        ...plan.lines.map((line) => bind(giveBackLine, { ...values, ...line })),
        bind(insertRefund, {
          ...values,
          ...points,
          refundId,
          amount: plan.amount,
          lines: JSON.stringify(plan.lines.map((line) => lineJson(line, order.currency_digits))),
          reason,
        }),
        bind(giveBackOrder, { ...values, ...points, amount: plan.amount, isFull: plan.isFull ? 1 : 0 }),
        ...plan.lines.flatMap(({ item, restocked }) =>
          restocked > 0 ? moveStock(tx, "restock", { ...item, quantity: restocked }, "restock") : [],
        ),
        orderEvent(tx, id, "order.refunded"),
        ...orderNotice(tx, id, "order.refunded"),
        readOrder(tx, id),
      ]),
    );
  });
}

function lineJson({ lineId, quantity, amount, restocked }: RefundPlan["lines"][number], digits: number) {
  return {
    line_id: lineId,
    quantity,
    amount: toAmount(amount, digits),
    amount_minor: amount,
    restock: restocked > 0,
  };
}

async function explainRefusal(tx: Ctx, values: { tenantId: string; id: string; ifMatch: number | null }) {
  const state = await get(tx.db, selectState, { ...values, own: null });
  if (!state) return noSuchOrder();
  if (values.ifMatch !== null && state.version !== values.ifMatch) return preconditionFailed();
  if (state.payment_status === "refunded") return wrongState("All of the order has been refunded.");
  return wrongState(`The order is ${state.status} and not paid.`);
}

/**
 * Returns used points and takes earned ones back, up to the refunded share of the order. Somebody may have spent what
 * they earned: what is short now is taken by a later refund, if there is one.
 */
async function movePoints(tx: Ctx, order: PaidOrder, plan: RefundPlan, source: string, orderId: string) {
  const userId = order.user_id;
  if (userId === null) return { returned: 0, reversed: 0 };
  // An order that points paid in full has no total, so its share is that of the goods.
  const [part, whole] =
    order.total_minor > 0
      ? [order.refunded_minor + plan.amount, order.total_minor]
      : [plan.refundedGoods, order.subtotal_minor];
  const due = (points: number) => shareOf(points, part, whole);
  const returned = due(order.points_used) - order.points_returned;
  if (returned > 0) await givePointsBack(tx, { userId, points: returned, source: `${source}:return`, orderId });
  const owed = due(order.points_earned) - order.points_reversed;
  const reversed =
    owed > 0 ? await clawBackPoints(tx, { userId, points: owed, source: `${source}:reverse`, orderId }) : 0;
  return { returned: Math.max(returned, 0), reversed };
}
