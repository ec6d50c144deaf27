import { and, eq, lte, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import { type Ctx, mayRead, type WorkCtx } from "../../context.ts";
import { isUniqueViolation } from "../../db/db-errors.ts";
import { all, bind, byId, get, isVersion, ofStore, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { conflict, fieldError, notFound, preconditionFailed } from "../../errors.ts";
import { requireText } from "../../values/fields.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { earnPoints, pointsFor } from "../rewards/ledger.ts";
import { workThrough } from "../tenants/service.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { ownOnly, requireStore } from "./input.ts";
import { expiryMs, type PaymentInput } from "./model.ts";
import { bumpVersion, orderStateError, requireOrderId, selectOrder, selectState, visible } from "./statements.ts";
import { orders } from "./table.ts";
import { type ChangedOrder, changedColumns, commitTransition, type OrderChange, releaseOrder } from "./transition.ts";

/** Builds an update that requires a state and version of the order. An error says `Only ${required}`. */
function transition(from: "pending" | "paid", required: string, set: SQLiteUpdateSetSource<typeof orders>) {
  const isAllowed = and(byId(orders), visible, eq(orders.status, from), isVersion(orders));
  const changed = { ...set, ...bumpVersion };
  const update = statement((q) => q.update(orders).set(changed).where(isAllowed).returning(changedColumns));
  return { update, required };
}

const cancelling = transition("pending", "pending orders can be cancelled", {
  status: "cancelled",
  cancelledAt: param("now"),
});
// Until the job expires it, an order can be paid even after `expires_at`, because its items are still reserved.
const paying = transition("pending", "pending orders can be paid", {
  status: "paid",
  paymentStatus: "paid",
  paymentReference: param("reference"),
  paidAt: param("now"),
});
const fulfilling = transition("paid", "paid orders can be fulfilled", {
  status: "completed",
  fulfillmentStatus: "fulfilled",
  fulfilledAt: param("now"),
});
const isPaidBy = and(ofStore(orders), eq(orders.paymentReference, param("reference")));
const selectPaid = statement((q) => q.select({ id: orders.id }).from(orders).where(isPaidBy));
const earned = { pointsEarned: param("earned") };
const setEarned = statement((q) => q.update(orders).set(earned).where(byId(orders)));

export async function getOrder(ctx: Ctx, id: string): Promise<Rendered> {
  requireOrderId(id);
  const order = await get(ctx.db, selectOrder, { tenantId: ctx.tenant.id, id, own: ownOnly(ctx) });
  if (!order) throw notFound("order", id);
  return order;
}

export function cancelOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<Rendered> {
  return change(ctx, cancelling, { id, ifMatch }, (tx, order) => releaseOrder(tx, order, "cancel"));
}

/** Pays an order; repeating a reference changes nothing. Errors: as fulfillOrder; conflict. */
export async function payOrder(ctx: Ctx, id: string, input: PaymentInput = {}, ifMatch: number | null = null) {
  requireStore(ctx);
  const reference =
    input.payment_reference === undefined ? null : requireText("payment_reference", input.payment_reference, 200);
  try {
    return await change(ctx, paying, { id, ifMatch, reference }, bookPayment);
  } catch (error) {
    if (!isUniqueViolation(error, "orders.payment_reference")) throw error;
    const other =
      mayRead(ctx, "orders:read") && (await get(ctx.db, selectPaid, { tenantId: ctx.tenant.id, reference }));
    const id = (other || undefined)?.id;
    throw fieldError(conflict, "payment_reference", "belongs to another order", { id, cause: error });
  }
}

async function bookPayment(tx: Ctx, order: ChangedOrder): Promise<Rendered> {
  const { id, user_id: userId, total_minor: total } = order;
  const points = userId === null ? 0 : pointsFor(total, tx.tenant);
  const paid: OrderChange = { event: "order.paid", stock: ["commit", "pay"] };
  if (userId === null || points === 0) return commitTransition(tx, id, paid);
  await earnPoints(tx, { userId, points, source: `order:${id}:earn`, orderId: id });
  return commitTransition(tx, id, {
    ...paid,
    first: [bind(setEarned, { tenantId: tx.tenant.id, id, earned: points })],
  });
}

export async function fulfillOrder(ctx: Ctx, id: string, ifMatch: number | null = null): Promise<Rendered> {
  requireStore(ctx);
  return change(ctx, fulfilling, { id, ifMatch }, (tx) => commitTransition(tx, id, { event: "order.fulfilled" }));
}

async function change(
  ctx: Ctx,
  { update, required }: typeof paying,
  { id, ifMatch, reference }: { id: string; ifMatch: number | null; reference?: string | null },
  follow: (tx: Ctx, order: ChangedOrder) => Promise<Rendered>,
): Promise<Rendered> {
  requireOrderId(id);
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const values = { tenantId: tx.tenant.id, id, own: ownOnly(ctx), now, ifMatch, reference };
    const order = await get(tx.db, update, values);
    if (order) return follow(tx, order);
    const state = await get(tx.db, selectState, values);
    if (!state) throw notFound("order", id);
    const isRepeated = reference != null && state.paymentReference === reference;
    if (isRepeated) return (await get(tx.db, selectOrder, values)) as Rendered;
    if (ifMatch !== null && state.version !== ifMatch) throw preconditionFailed();
    throw orderStateError(id, state.status, required);
  });
}

// Orders of a store expire in the order of their creation, so an index finds the due ones.
const selectDue = statement<{ id: string; tenant: string }>(sql`
  select o.id, ${tenantForWork} as tenant
  from ${tenants} t cross join ${orders} o indexed by orders_by_status
    on o.tenant_id = t.id and o.status = 'pending' and o.created_at <= ${param("createdTo")}
  where o.expires_at <= ${param("now")} limit ${param("max")}`);
// If several processes try, only one of them finds the order pending.
const isExpiring = and(byId(orders), eq(orders.status, "pending"), lte(orders.expiresAt, param("now")));
const expired = { status: "expired" as const, ...bumpVersion };
const expirePending = statement((q) => q.update(orders).set(expired).where(isExpiring).returning(changedColumns));

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
