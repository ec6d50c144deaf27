import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, get, param, statement } from "../../db/statement.ts";
import { inDryRun, inTransaction } from "../../db/transaction.ts";
import { notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toAmount } from "../../values/money.ts";
import { checkNote } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { Rendered } from "../products/rendering.ts";
import { moveStock } from "../products/stock.ts";
import { reversePoints } from "../rewards/ledger.ts";
import { shareOf } from "./amounts.ts";
import { finishChange } from "./finish-change.ts";
import type { RefundInput } from "./model.ts";
import { requireStore } from "./ownership.ts";
import { type PaidLine, planRefund, type RefundPlan } from "./refund-plan.ts";
import { returnSpentPoints } from "./return-points.ts";
import { orderStateError, requireOrderId, selectState, thisOrder, touched } from "./statements.ts";
import { orderLines, orderRefunds, orders } from "./table.ts";

const maxReason = 500;

type Amount = "currency_digits" | "subtotal_minor" | "total_minor" | "refunded_minor";
type Points = "points_used" | "points_earned" | "points_returned" | "points_reversed";
type PaidOrder = { user_id: string | null } & Record<Amount | Points, number>;

// As the first statement of the transaction, this write locks the database for the reads after it.
const lockOrder = statement<PaidOrder>(sql`
  update ${orders} set ${touched}
  where ${thisOrder} and payment_status in ('paid', 'partially_refunded')
    and version = coalesce(${param("ifMatch")}, version)
  returning user_id, currency_digits, subtotal_minor, total_minor, refunded_minor, points_used, points_earned,
    points_returned, points_reversed`);
const selectLines = statement<PaidLine>(sql`
  select id, coalesce(sku, title) as name, product_id as productId, variant_id as variantId, quantity, subtotal_minor as subtotal,
    total_minor as total, is_counted as isCounted, refunded_quantity as refundedQuantity,
    refunded_minor as refunded from ${orderLines}
  where tenant_id = ${param("tenantId")} and order_id = ${param("id")} order by position`);
const refundLine = statement(sql`
  update ${orderLines} set refunded_quantity = refunded_quantity + ${param("quantity")},
    refunded_minor = refunded_minor + ${param("amount")}, restocked_quantity = restocked_quantity + ${param("restocked")}
  where tenant_id = ${param("tenantId")} and order_id = ${param("id")} and id = ${param("lineId")}`);
const insertRefund = statement(sql`
  insert into ${orderRefunds} (id, tenant_id, order_id, amount_minor, lines, reason, points_returned, points_reversed,
    created_at)
  values (${param("refundId")}, ${param("tenantId")}, ${param("id")}, ${param("amount")}, ${param("lines")},
    ${param("reason")}, ${param("returned")}, ${param("reversed")}, ${param("now")})`);
const updateOrder = statement(sql`
  update ${orders} set refunded_minor = refunded_minor + ${param("amount")},
    points_returned = points_returned + ${param("returned")}, points_reversed = points_reversed + ${param("reversed")},
    payment_status = case when ${param("isFull")} then 'refunded' else 'partially_refunded' end,
    cancelled_at = case when ${param("isFull")} and status = 'paid' then ${param("now")} else cancelled_at end,
    status = case when ${param("isFull")} and status = 'paid' then 'cancelled' else status end
  where ${thisOrder}`);

/**
 * Refunds lines of an order, or all that is left. Used points are returned, and earned points reversed, in proportion.
 * @throws forbidden for customers, notFound, preconditionFailed, validationFailed, wrongState.
 */
export async function refundOrder(
  ctx: Ctx,
  id: string,
  input: RefundInput = {},
  { ifMatch = null, isDryRun = false }: { ifMatch?: number | null; isDryRun?: boolean } = {},
): Promise<Rendered> {
  requireStore(ctx);
  requireOrderId(id);
  const reason = checkNote("reason", input.reason ?? null, maxReason);
  const run = isDryRun ? inDryRun : inTransaction;
  return run(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()), ifMatch };
    const order = await get(tx.db, lockOrder, values);
    if (!order) throw await cannotRefund(tx, values);
    const lines = await all(tx.db, selectLines, values);
    const left = order.total_minor - order.refunded_minor;
    const plan = planRefund(lines, left, input.lines, input.restock ?? false);
    const refundId = newId("ref");
    const points = await movePoints(tx, { id, refundId }, order, plan);
    const refund = {
      ...values,
      ...points,
      refundId,
      amount: plan.amount,
      lines: JSON.stringify(plan.lines.map((line) => lineJson(line, order.currency_digits))),
      reason,
    };
    const restocked = plan.lines.flatMap(({ item, restocked: quantity }) =>
      quantity > 0 ? [{ ...item, quantity }] : [],
    );
    return finishChange(tx, id, {
      event: "order.refunded",
      first: [
        ...plan.lines.map((line) => bind(refundLine, { ...values, ...line })),
        bind(insertRefund, refund),
        bind(updateOrder, { ...refund, isFull: plan.isFull ? 1 : 0 }),
        ...moveStock(tx, "restock", restocked, "restock"),
      ],
    });
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

async function cannotRefund(tx: Ctx, values: { tenantId: string; id: string; ifMatch: number | null }) {
  const { id, ifMatch } = values;
  const state = await get(tx.db, selectState, { ...values, own: null });
  if (!state) return notFound("order", id);
  if (ifMatch !== null && state.version !== ifMatch) return preconditionFailed();
  if (state.payment_status === "refunded") return wrongState(`Order ${id} is already fully refunded.`);
  return orderStateError(id, state.status, "paid orders can be refunded");
}

/**
 * Returns used points by the refunded share of the goods, and reverses earned ones by that of the total. Those
 * that the customer has spent are reversed by a later refund, or when another order returns points.
 */
async function movePoints(tx: Ctx, ids: { id: string; refundId: string }, order: PaidOrder, plan: RefundPlan) {
  const userId = order.user_id;
  if (userId === null) return { returned: 0, reversed: 0 };
  // Points pay for goods only, and are earned with all that is paid.
  const returnable = shareOf(order.points_used, plan.refundedGoods, order.subtotal_minor);
  const reversible = shareOf(order.points_earned, order.refunded_minor + plan.amount, order.total_minor);
  const returned = Math.max(returnable - order.points_returned, 0);
  const toReverse = Math.max(reversible - order.points_reversed, 0);
  const booking = { userId, orderId: ids.id };
  const source = `order:${ids.id}:refund:${ids.refundId}`;
  const returning = { ...booking, points: returned, source: `${source}:return`, cause: ids.refundId };
  if (returned > 0) await returnSpentPoints(tx, returning, order.points_returned);
  const reversed =
    toReverse > 0 ? await reversePoints(tx, { ...booking, points: toReverse, source: `${source}:reverse` }) : 0;
  return { returned, reversed };
}
