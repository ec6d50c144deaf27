import { sql } from "drizzle-orm";
import { type Ctx, mayRead } from "../../context.ts";
import { byId, get, param, statement } from "../../db/statement.ts";
import { notFound, preconditionFailed } from "../../errors.ts";
import { sameHash } from "../app-keys/lookup.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { accessToken } from "./guests/access-token.ts";
import { isPage, ownOnly } from "./input.ts";
import { type OrderCtx, requireOrderId, selectOrderFor } from "./statements.ts";
import { orderLines, orders } from "./table.ts";

export type OrderRow = typeof orders.$inferSelect;

/** SQL condition: rows that belong to the order `id`, in the tables of lines, payments and refunds. */
export const ofOrder = sql`tenant_id = ${param("tenantId")} and order_id = ${param("id")}`;
export const selectLines = statement((q) => q.select().from(orderLines).where(ofOrder).orderBy(orderLines.position));
/** Returns the name of a line or item: `Shirt (red)`, or `Mug` without variants. */
export const titleOf = ({ title, variantTitle }: Record<"title", string> & Record<"variantTitle", string | null>) =>
  variantTitle === null ? title : `${title} (${variantTitle})`;
const selectRow = statement((q) => q.select().from(orders).where(byId(orders)));

/** How long an access token is valid after the order's last change. */
const validMs = 180 * 86_400_000;

/** Requires a valid access token of the order. Errors: notFound, so that nobody learns which orders exist. */
export async function requireAccess(ctx: Ctx, id: string): Promise<void> {
  const { updatedAt, accessVersion } = await requireRow(ctx, id);
  const isRecent = Date.parse(updatedAt) > ctx.now() - validMs;
  const [given, token] = [ctx.orderToken ?? "", accessToken(ctx, id, accessVersion)];
  if (!isRecent || !sameHash(Buffer.from(given), Buffer.from(token))) throw notFound("order", id);
}

/** Returns an order. Errors: notFound, also for an order that the caller may not see. */
export async function getOrder(ctx: Ctx, id: string): Promise<Rendered> {
  requireOrderId(id);
  if (isPage(ctx) && !mayRead(ctx, "orders:read")) await requireAccess(ctx, id);
  const order = await get(ctx.db, selectOrderFor(ctx), { tenantId: ctx.tenant.id, id, own: ownOnly(ctx) });
  if (!order) throw notFound("order", id);
  return order;
}

/** Returns the row of an order. Errors: notFound; preconditionFailed if its version is not `ifMatch`. */
export async function requireRow(tx: OrderCtx, id: string, ifMatch: number | null = null): Promise<OrderRow> {
  requireOrderId(id);
  const order = await get(tx.db, selectRow, { tenantId: tx.tenant.id, id });
  if (!order) throw notFound("order", id);
  if (ifMatch !== null && order.version !== ifMatch) throw preconditionFailed();
  return order;
}
