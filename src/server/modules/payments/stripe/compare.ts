import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, ofStore, param, statement } from "../../../db/statement.ts";
import { checkouts } from "../../orders/checkouts/table.ts";
import { orders } from "../../orders/table.ts";
import { requireAccount } from "../accounts.ts";
import { callStripe } from "./client.ts";
import { stripeOf } from "./connect.ts";

const recentMs = 7 * 86_400_000;
/** Payments of the last minutes may still be on their way. */
const quietMs = 600_000;

// A page is complete here once its payment is booked.
const isUnbooked = sql`${checkouts.sessionId} in (select value from json_each(${param("sessions")}))
  and (${checkouts.state} <> 'complete' or ${checkouts.isProcessing})`;
const selectUnbooked = statement((q) =>
  q
    .select({ number: orders.number })
    .from(checkouts)
    .innerJoin(orders, eq(orders.id, checkouts.orderId))
    .where(and(ofStore(checkouts), isUnbooked))
    .orderBy(orders.number),
);

/** Returns the orders of the last week that were paid at Stripe and not here. Errors: unavailable, wrongState. */
export async function findUnbooked(ctx: Ctx): Promise<{ number: number }[]> {
  const stripe = await stripeOf(ctx, await requireAccount(ctx));
  const created = { gte: Math.floor((ctx.now() - recentMs) / 1000), lte: Math.floor((ctx.now() - quietMs) / 1000) };
  const query = { status: "complete", created, limit: 100 } as const;
  const found = await callStripe(() => stripe.checkout.sessions.list(query).autoPagingToArray({ limit: 1000 }));
  const sessions = found.filter(({ payment_status }) => payment_status === "paid").map(({ id }) => id);
  return all(ctx.db, selectUnbooked, { tenantId: ctx.tenant.id, sessions: JSON.stringify(sessions) });
}
