import type { Ctx } from "../../context.ts";
import { getOrder, type OrderRow, requireRow } from "../orders/read.ts";

/** Returns an order that the caller may see. Errors: notFound. */
export async function requireOwn(ctx: Ctx, id: string): Promise<OrderRow> {
  await getOrder(ctx, id);
  return requireRow(ctx, id);
}
