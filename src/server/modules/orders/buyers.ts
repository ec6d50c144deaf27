import { and, count, countDistinct, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, get, ofStore, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { tooManyRequests } from "../../errors.ts";
import { shortage } from "../catalogue/products/stock.ts";
import { products, productVariants } from "../catalogue/products/table.ts";
import { addressSubject, consumeLimit } from "../rate-limits/service.ts";
import { users } from "../users/table.ts";
import { isCustomer } from "./input.ts";
import { cancelOrder } from "./service.ts";
import { orderLines, orders } from "./table.ts";

const ofBuyer = and(ofStore(orders), eq(orders.buyer, param("buyer")));
const pending = { count: count(), next: sql<string>`min(${orders.expiresAt})` };
const selectPending = statement((q) => q.select(pending).from(orders).where(ofBuyer));
// A buyer may reserve ten items, or a larger share of the whole stock. If the share were of the unreserved stock, seven
// buyers could reserve 99 %. Parameters are bound as REAL, so the statement rounds the share.
const selectExcess = statement<{ position: number; most: number }>(sql`
  with held as (
    select l.product_id, l.variant_id, sum(l.quantity) as quantity,
      min(case when l.order_id = ${param("id")} then l.position end) as position
    from ${orders} join ${orderLines} l on l.order_id = ${orders.id} where ${ofBuyer} and l.is_counted
    group by l.product_id, l.variant_id),
  limited as (
    select h.position, h.quantity,
      max(10, cast(coalesce(v.stock, p.stock) * ${param("share")} / 100 as integer)) as most
    from held h join ${products} p on p.id = h.product_id left join ${productVariants} v on v.id = h.variant_id
    where h.position is not null and not p.allow_backorder)
  select position, most from limited where quantity > most limit 1`);

/** The buyer whose limits an order counts towards; null for staff, and for guests without an address. */
export function buyerOf(ctx: Ctx, userId: string | null, guestIp: string | null): string | null {
  const { actor } = ctx;
  if (actor.kind !== "app") return isCustomer(ctx) ? userId : null;
  if (userId !== null) return userId;
  if (guestIp === null && !actor.isWeb) return null;
  return addressSubject(ctx.vault, guestIp ?? ctx.client?.ip, ctx.tenant.id);
}

export async function requireFewPending(tx: Ctx, buyer: string): Promise<void> {
  const { id: tenantId, pendingOrders } = tx.tenant;
  const pending = pendingOrders > 0 ? await get(tx.db, selectPending, { tenantId, buyer }) : undefined;
  if (pending && pending.count >= pendingOrders) {
    const retryAfter = Math.max(Math.ceil((Date.parse(pending.next) - tx.now()) / 1000), 1);
    const message = `There are already ${pending.count} unpaid orders, the maximum in this store.`;
    throw tooManyRequests(message, { retryAfter, remedy: "Pay or cancel one of them first." });
  }
}

/** Counts a try before the transaction, because refused orders reveal stock too. Errors: tooManyRequests. */
export async function countTry(ctx: Ctx, buyer: string, isDryRun: boolean): Promise<void> {
  const { id, ordersPerMinute } = ctx.tenant;
  if (ordersPerMinute === 0) return;
  const [name, max] = isDryRun ? ["dry runs of orders", 6 * ordersPerMinute] : ["orders", ordersPerMinute];
  await consumeLimit(ctx, { name, max, windowMs: 60_000 }, `${id}:${buyer}`, `Too many ${name}.`);
}

/** Throws outOfStock if the buyer, with this order that is already written, reserves too much of an item. */
export async function enforceReservationCap(tx: Ctx, buyer: string, id: string): Promise<void> {
  const { id: tenantId, stockShare: share } = tx.tenant;
  if (share === 100) return;
  const excess = await get(tx.db, selectExcess, { tenantId, buyer, id, share });
  if (!excess) return;
  const message = `unpaid orders of one customer can reserve at most ${excess.most}`;
  throw shortage(tx, `items.${excess.position}.quantity`, message);
}

const isUnpaid = and(ofStore(orders), eq(orders.status, "pending"));
/** The id of a customer, the keyed hash of a guest's address, or `staff` for orders that staff made for guests. */
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
const { id, number } = orders;
const isUnpaidOf = and(isUnpaid, eq(buyer, param("buyer")));
const selectOfBuyer = statement((q) => q.select({ id, number }).from(orders).where(isUnpaidOf).orderBy(number));

/** At most `limit` buyers whose unpaid orders reserve stock. Buyers who reserve the most items come first. */
export function listBuyers(ctx: Ctx, limit: number) {
  return all(ctx.db, selectBuyers, { tenantId: ctx.tenant.id, limit });
}

export function listUnpaid(ctx: Ctx, buyer: string) {
  return all(ctx.db, selectOfBuyer, { tenantId: ctx.tenant.id, buyer });
}

export function cancelUnpaid(ctx: Ctx, buyer: string): Promise<number[]> {
  return inTransaction(ctx, async (tx) => {
    const unpaid = await listUnpaid(tx, buyer);
    for (const { id } of unpaid) await cancelOrder(tx, id);
    return unpaid.map(({ number }) => number);
  });
}
