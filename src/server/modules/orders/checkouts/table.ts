import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../../tenants/table.ts";
import { orders } from "../table.ts";

/** Payment pages of a provider, each for one order. Amounts are in minor units of ISO 4217. */
export const checkouts = sqliteTable(
  "checkouts",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    orderId: ownerColumn("order_id", () => orders.id),
    provider: text("provider", { enum: ["stripe"] }).notNull(),
    /** `processing`: the buyer has completed the page, and the provider has not decided about the payment yet. */
    state: text("state", { enum: ["open", "processing", "complete", "expired", "failed"] }).notNull(),
    amountMinor: integer("amount_minor").notNull(),
    currency: text("currency").notNull(),
    /** The body of the request that opens the page, because a repetition must send the same body. */
    request: text("request").notNull(),
    /** The provider's ids of the page and of the payment; null until they are known. */
    sessionId: text("session_id"),
    intentId: text("intent_id"),
    url: text("url"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
    /** When the server next reads the page at the provider. */
    nextCheckAt: text("next_check_at"),
  },
  (t) => [
    uniqueIndex("checkouts_open").on(t.orderId).where(sql`state = 'open'`),
    index("checkouts_by_order").on(t.orderId, t.id),
    uniqueIndex("checkouts_session").on(t.tenantId, t.sessionId).where(sql`session_id is not null`),
    index("checkouts_intent").on(t.tenantId, t.intentId).where(sql`intent_id is not null`),
    index("checkouts_due").on(t.nextCheckAt).where(sql`next_check_at is not null`),
    check("checkouts_state", sql`${t.state} in ('open', 'processing', 'complete', 'expired', 'failed')`),
    check("checkouts_amount", sql`${t.amountMinor} > 0`),
  ],
);

const ofOrder = (order: string) => sql`select 1 from ${checkouts} c where c.order_id = ${sql.raw(order)}`;

/** SQL for whether a provider has yet to decide about a payment of an order. */
export const isProcessing = (order: string) => sql`exists (${ofOrder(order)} and c.state = 'processing')`;
/** SQL for whether a page of an order is open, or the provider has yet to decide about a payment. */
export const canBePaid = (order: string) => sql`exists (${ofOrder(order)} and c.state in ('open', 'processing'))`;
