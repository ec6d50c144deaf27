import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { deliveryColumns } from "../../delivery/claim.ts";
import { orderRefunds, orders, payments } from "../orders/table.ts";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";

/** Accounts of stores at providers. Keys and secrets are encrypted. */
export const paymentAccounts = sqliteTable(
  "payment_accounts",
  {
    tenantId: tenantIdColumn(),
    provider: text("provider", { enum: ["stripe"] }).notNull(),
    account: text("account").notNull(),
    isLive: integer("is_live", { mode: "boolean" }).notNull(),
    key: text("key").notNull(),
    /** The last characters of the key, which may be shown. */
    keyEnd: text("key_end").notNull(),
    methods: text("methods").notNull(),
    endpointId: text("endpoint_id"),
    /** The secrets that verify webhook calls. After a rotation, the older one is valid until `olderUntil`. */
    secret: text("secret"),
    olderSecret: text("older_secret"),
    olderUntil: text("older_until"),
    /** All events up to `eventsUntil` were read. Later events are polled at `nextPollAt`. */
    eventsUntil: text("events_until").notNull(),
    nextPollAt: text("next_poll_at").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.provider] }),
    check("payment_accounts_json", sql`json_valid(${t.methods})`),
  ],
);

/** Events that were handled, without their contents. A repeated event is ignored. */
export const paymentEvents = sqliteTable(
  "payment_events",
  {
    tenantId: tenantIdColumn(),
    id: text("id").notNull(),
    type: text("type").notNull(),
    object: text("object").notNull(),
    isLive: integer("is_live", { mode: "boolean" }).notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.id] }), index("payment_events_by_age").on(t.createdAt)],
);

/** Payments that a customer disputes at the bank. */
export const disputes = sqliteTable(
  "disputes",
  {
    tenantId: tenantIdColumn(),
    id: text("id").notNull(),
    orderId: ownerColumn("order_id", () => orders.id),
    paymentId: ownerColumn("payment_id", () => payments.id),
    amountMinor: integer("amount_minor").notNull(),
    currency: text("currency").notNull(),
    status: text("status").notNull(),
    /** A number that increases with each state, so that older states are ignored. */
    progress: integer("progress").notNull(),
    reason: text("reason").notNull(),
    /** The time until which the store can answer the dispute. */
    dueAt: text("due_at"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.id] }), index("disputes_by_order").on(t.orderId)],
);

/** Requests to providers to pay money back. The id of a row is that of its refund. */
export const refundDeliveries = sqliteTable(
  "refund_deliveries",
  {
    id: ownerColumn("id", () => orderRefunds.id).primaryKey(),
    tenantId: tenantIdColumn(),
    status: text("status", { enum: ["waiting", "delivered", "failed", "dropped"] }).notNull(),
    ...deliveryColumns,
  },
  (t) => [
    index("refund_deliveries_due").on(t.tenantId, t.nextAttemptAt).where(sql`status = 'waiting'`),
    check("refund_deliveries_status", sql`${t.status} in ('waiting', 'delivered', 'failed', 'dropped')`),
  ],
);
