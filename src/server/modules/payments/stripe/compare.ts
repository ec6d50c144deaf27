import { eq, sql } from "drizzle-orm";
import type { Stripe } from "stripe";
import type { Ctx } from "../../../context.ts";
import { all, ofStore, param, statement } from "../../../db/statement.ts";
import { checkouts } from "../../orders/checkouts/table.ts";
import { orders, payments } from "../../orders/table.ts";
import { keyOf, requireAccount } from "../accounts.ts";
import { callStripe, openStripe } from "./client.ts";

const recentMs = 7 * 86_400_000;
/** Payments of the last minutes may still be on their way. */
const quietMs = 600_000;

const selectUnbooked = statement((q) =>
  q
    .select({ number: orders.number, session: checkouts.sessionId })
    .from(checkouts)
    .innerJoin(orders, eq(orders.id, checkouts.orderId))
    .where(
      sql`${ofStore(checkouts)} and ${checkouts.sessionId} in (select value from json_each(${param("sessions")}))
        and not exists (select 1 from ${payments} p where p.tenant_id = ${checkouts.tenantId}
          and p.reference = ${checkouts.intentId})`,
    )
    .orderBy(orders.number),
);

/** Returns the orders of the last week that were paid at Stripe and not here. Errors: unavailable, wrongState. */
export async function findUnbooked(ctx: Ctx): Promise<{ number: number; session: string | null }[]> {
  const stripe = (await openStripe(keyOf(ctx, await requireAccount(ctx)), ctx.payments ?? {})) as Stripe;
  const created = { gte: Math.floor((ctx.now() - recentMs) / 1000), lte: Math.floor((ctx.now() - quietMs) / 1000) };
  const query = { status: "complete", created, limit: 100 } as const;
  const found = await callStripe(() => stripe.checkout.sessions.list(query).autoPagingToArray({ limit: 1000 }));
  const sessions = found.filter(({ payment_status }) => payment_status === "paid").map(({ id }) => id);
  return all(ctx.db, selectUnbooked, { tenantId: ctx.tenant.id, sessions: JSON.stringify(sessions) });
}
