import { sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { fieldFault, outOfStock, tooManyRequests } from "../../errors.ts";
import { maxShownStock } from "../products/rendering.ts";
import { products, productVariants } from "../products/table.ts";
import { addressSubject, requireHit } from "../rate-limits/service.ts";
import { isCustomer } from "./ownership.ts";
import { orderLines, orders } from "./table.ts";

/** One buyer may reserve so many pieces of an item in any case. */
const fewPieces = 10;

const ofBuyer = sql`o.tenant_id = ${param("tenantId")} and o.buyer = ${param("buyer")}`;
const selectPending = statement<{ count: number; next: string | null }>(sql`
  select count(*) as count, min(o.expires_at) as next from ${orders} o where ${ofBuyer}`);
// Of the whole stock: shares of what is left would let seven buyers reserve all but a hundredth. Parameters are real
// numbers, so the share is rounded here.
const selectExcess = statement<{ position: number; most: number }>(sql`
  with held as (
    select l.product_id, l.variant_id, sum(l.quantity) as quantity,
      min(case when l.order_id = ${param("id")} then l.position end) as position
    from ${orders} o join ${orderLines} l on l.order_id = o.id where ${ofBuyer} and l.is_counted
    group by l.product_id, l.variant_id),
  limited as (
    select h.position, h.quantity,
      max(${sql.raw(String(fewPieces))}, cast(coalesce(v.stock, p.stock) * ${param("share")} / 100 as integer)) as most
    from held h join ${products} p on p.id = h.product_id left join ${productVariants} v on v.id = h.variant_id
    where h.position is not null and not p.allow_backorder)
  select position, most from limited where quantity > most limit 1`);

/**
 * Whose limits an order counts towards: the customer, or a keyed hash of the guest's address. Null for orders of staff and
 * the terminal, and for guests of a backend that does not send their address.
 */
export function buyerOf(ctx: Ctx, userId: string | null, guestIp: string | null): string | null {
  const { actor } = ctx;
  if (actor.kind !== "app") return isCustomer(ctx) ? userId : null;
  if (userId !== null) return userId;
  if (guestIp === null && !actor.isWeb) return null;
  return addressSubject(ctx.vault, guestIp ?? ctx.client?.ip, ctx.tenant.id);
}

/** Counts an order of a buyer, in its transaction and before it is written. Errors: tooManyRequests with `retryAfter`. */
export async function countOrder(tx: Ctx, buyer: string): Promise<void> {
  const { id: tenantId, pendingOrders, ordersPerMinute } = tx.tenant;
  const pending = pendingOrders > 0 ? await get(tx.db, selectPending, { tenantId, buyer }) : undefined;
  if (pending && pending.count >= pendingOrders) {
    const retryAfter = Math.max(Math.ceil((Date.parse(pending.next ?? "") - tx.now()) / 1000), 1);
    const message = `There are ${pending.count} unpaid orders already, the most that this store allows at a time.`;
    throw tooManyRequests(message, { retryAfter, remedy: "Pay or cancel one of them first." });
  }
  await countInMinute(tx, buyer, "orders", ordersPerMinute);
}

/** Counts a dry run before its transaction, which is rolled back: six for each order. Errors: as those of `countOrder`. */
export function countDryRun(ctx: Ctx, buyer: string): Promise<void> {
  return countInMinute(ctx, buyer, "dry runs of orders", 6 * ctx.tenant.ordersPerMinute);
}

async function countInMinute(ctx: Ctx, buyer: string, name: string, most: number): Promise<void> {
  if (most === 0) return;
  await requireHit(ctx, { name, most, windowMs: 60_000 }, `${ctx.tenant.id}:${buyer}`, `Too many ${name}.`);
}

/** Refuses a written order with which its buyer would reserve too much of an item. Errors: outOfStock. */
export async function requireShare(tx: Ctx, buyer: string, id: string): Promise<void> {
  const { id: tenantId, stockShare: share } = tx.tenant;
  if (share === 100) return;
  const excess = await get(tx.db, selectExcess, { tenantId, buyer, id, share });
  if (!excess) return;
  const most = excess.most > maxShownStock && isCatalogOnly(tx) ? "only part of the stock" : `at most ${excess.most}`;
  const message = `unpaid orders of one customer can reserve ${most}`;
  throw fieldFault(outOfStock, `items.${excess.position}.quantity`, message);
}
