import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { deliveryColumns } from "../../delivery/claim.ts";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";

export const webhooks = sqliteTable(
  "webhooks",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    url: text("url").notNull(),
    /** JSON array of event types; `*` and `order.*` are patterns. */
    types: text("types").notNull(),
    secret: text("secret").notNull(),
    allowPrivate: integer("allow_private", { mode: "boolean" }).notNull().default(false),
    /** The sequence of the last event whose deliveries were created. */
    position: integer("position").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [index("webhooks_by_tenant").on(t.tenantId, t.id), check("webhooks_types", sql`json_valid(${t.types})`)],
);

export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    webhookId: ownerColumn("webhook_id", () => webhooks.id),
    /** The event's sequence. The event with this sequence may already be purged. */
    event: integer("event").notNull(),
    status: text("status", { enum: ["waiting", "delivered", "failed"] }).notNull(),
    ...deliveryColumns,
  },
  (t) => [
    uniqueIndex("webhook_deliveries_event").on(t.webhookId, t.event),
    index("webhook_deliveries_due").on(t.webhookId, t.nextAttemptAt).where(sql`status = 'waiting'`),
    index("webhook_deliveries_by_age").on(t.status, t.finishedAt),
    check("webhook_deliveries_status", sql`${t.status} in ('waiting', 'delivered', 'failed')`),
  ],
);
