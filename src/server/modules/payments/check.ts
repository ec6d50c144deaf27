import { and, isNotNull, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, byId, equals, ofStore, param, run, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { isCustomer, isPage } from "../orders/input.ts";
import { getOrder } from "../orders/read.ts";
import { reconcile } from "./reconcile.ts";

const everyMs = 5000;

const isRead = sql`(${param("isAll")} or state = 'open' or is_processing)`;
const selectPages = statement((q) =>
  q
    .select()
    .from(checkouts)
    .where(and(ofStore(checkouts), equals(checkouts.orderId, "orderId"), isNotNull(checkouts.sessionId), isRead))
    .orderBy(checkouts.id),
);
// Of several calls at once, one reads.
const claim = statement(sql`
  update ${checkouts} set checked_at = ${param("now")}
  where ${byId(checkouts)} and coalesce(checked_at, '') <= ${param("before")}`);

/**
 * Reads the payment pages of an order at the provider, and returns the order. For visitors, it does so once in five
 * seconds, and answers from the database if the provider does not answer.
 * @throws notFound; for staff also unavailable and wrongState.
 */
export async function checkPayment(ctx: Ctx, orderId: string): Promise<Rendered> {
  await getOrder(ctx, orderId);
  const isVisitor = isCustomer(ctx) || isPage(ctx);
  const [now, before] = [toTimestamp(ctx.now()), toTimestamp(ctx.now() - everyMs)];
  const values = { tenantId: ctx.tenant.id, orderId, isAll: isVisitor ? 0 : 1, now, before };
  for (const row of await all(ctx.db, selectPages, values)) {
    if (isVisitor && (await run(ctx.db, claim, { ...values, id: row.id })) === 0) continue;
    await reconcile(ctx, row).catch((error: unknown) => {
      if (!isVisitor || !(error instanceof AppError)) throw error;
    });
  }
  return getOrder(ctx, orderId);
}
