import { and, count, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, ofStore, param, statement } from "../../db/statement.ts";
import { fieldError, outOfStock, tooManyRequests } from "../../errors.ts";
import { shortage } from "../catalogue/products/stock.ts";
import { products, productVariants } from "../catalogue/products/table.ts";
import { addressSubject, consumeLimit } from "../rate-limits/service.ts";
import { isCustomer, isPage } from "./input.ts";
import { orderLines, orders } from "./table.ts";

const ofBuyer = and(ofStore(orders), eq(orders.buyer, param("buyer")));
const pending = { count: count(), next: sql<string>`min(${orders.expiresAt})` };
const selectPending = statement((q) => q.select(pending).from(orders).where(ofBuyer));
/**
 * Returns a statement that finds an item of the order `id` of which too many pieces are reserved. The orders that match
 * `condition` may reserve `least` pieces of an item, or a share of its stock if that is more. The stock includes
 * reserved pieces. A cast rounds the share down, because parameters are real numbers.
 */
const findExcess = (condition: SQL | undefined, least: number) =>
  statement<{ position: number; most: number }>(sql`
  with held as (
    select l.product_id, l.variant_id, sum(l.quantity) as quantity,
      min(case when l.order_id = ${param("id")} then l.position end) as position
    from ${orders} join ${orderLines} l on l.order_id = ${orders.id} where ${condition} and l.is_counted
    group by l.product_id, l.variant_id),
  limited as (
    select h.position, h.quantity,
      max(${sql.raw(String(least))}, cast(coalesce(v.stock, p.stock) * ${param("share")} / 100 as integer)) as most
    from held h join ${products} p on p.id = h.product_id left join ${productVariants} v on v.id = h.variant_id
    where h.position is not null and not p.allow_backorder)
  select position, most from limited where quantity > most limit 1`);
const selectExcess = findExcess(ofBuyer, 10);
// Counts unpaid orders of visitors that reserve stock for more than an hour. One piece is always allowed, so that the
// last piece can be bought by bank transfer.
const selectLongHeld = findExcess(
  sql`${ofStore(orders)} and ${orders.buyer} is not null
    and ${orders.expiresAt} > strftime('%Y-%m-%dT%H:%M:%fZ', ${orders.createdAt}, '+1 hour')`,
  1,
);

/** Returns the buyer whose limits apply to an order; null for staff, and for guests whose IP address was not sent. */
export function buyerOf(ctx: Ctx, userId: string | null, guestIp: string | null): string | null {
  const { actor } = ctx;
  if (actor.kind !== "app") return isCustomer(ctx) ? userId : null;
  if (userId !== null) return userId;
  if (guestIp === null && !actor.isWeb && !isPage(ctx)) return null;
  return addressSubject(ctx.vault, guestIp ?? ctx.client?.ip, ctx.tenant.id);
}

export async function requireFewPending(tx: Ctx, buyer: string): Promise<void> {
  const { id: tenantId, pendingOrders } = tx.tenant;
  const pending = pendingOrders > 0 ? await get(tx.db, selectPending, { tenantId, buyer }) : undefined;
  if (pending && pending.count >= pendingOrders) {
    const retryAfter = Math.max(Math.ceil((Date.parse(pending.next) - tx.now()) / 1000), 1);
    const message = `There are ${pending.count} unpaid orders already, the most that this store allows at a time.`;
    throw tooManyRequests(message, { retryAfter, remedy: "Pay or cancel one of them first." });
  }
}

/** Limits how often a buyer tries to order. Refused orders count too, as they reveal stock. Errors: tooManyRequests. */
export async function countTry(ctx: Ctx, buyer: string, isDryRun: boolean): Promise<void> {
  const { id, ordersPerMinute } = ctx.tenant;
  if (ordersPerMinute === 0) return;
  const [name, max] = isDryRun ? ["dry runs of orders", 6 * ordersPerMinute] : ["orders", ordersPerMinute];
  await consumeLimit(ctx, { name, max, windowMs: 60_000 }, `${id}:${buyer}`, `Too many ${name}.`);
}

/**
 * Refuses an inserted order if its buyer now reserves too much of an item. The limit of ten is public. Any other limit
 * reveals the stock, so `shortage` hides that limit from customers. Errors: outOfStock.
 */
export async function enforceReservationCap(tx: Ctx, buyer: string, id: string): Promise<void> {
  const { id: tenantId, stockShare: share } = tx.tenant;
  if (share === 100) return;
  const excess = await get(tx.db, selectExcess, { tenantId, buyer, id, share });
  if (!excess) return;
  const message = `unpaid orders of one customer can reserve at most ${excess.most}`;
  const field = `items.${excess.position}.quantity`;
  throw excess.most === 10 ? fieldError(outOfStock, field, message) : shortage(tx, field, message);
}

/** Refuses an inserted order if visitors now reserve too much of an item for over an hour. Errors: outOfStock. */
export async function enforceLongHolds(tx: Ctx, id: string, holdSeconds: number): Promise<void> {
  const { id: tenantId, longHoldShare: share } = tx.tenant;
  if (share === 100 || holdSeconds <= 3600 || !(isPage(tx) || isCustomer(tx))) return;
  const excess = await get(tx.db, selectLongHeld, { tenantId, id, share });
  if (!excess) return;
  const message = "is more than can be reserved for a payment that takes days: pay at once";
  throw fieldError(outOfStock, `items.${excess.position}.quantity`, message);
}
