import { sql } from "drizzle-orm";
import { check, index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../../tenants/table.ts";
import { attentionKinds } from "../states.ts";
import { orders } from "../table.ts";

/** Questions to staff about orders. A question ends when staff decide, or when its reason is gone. */
export const orderAttention = sqliteTable(
  "order_attention",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    orderId: ownerColumn("order_id", () => orders.id),
    kind: text("kind", { enum: attentionKinds }).notNull(),
    createdAt: text("created_at").notNull(),
    endedAt: text("ended_at"),
    action: text("action", { enum: ["accept", "dismiss"] }),
    endedBy: text("ended_by"),
    note: text("note"),
  },
  (t) => [
    uniqueIndex("order_attention_open").on(t.orderId, t.kind).where(sql`ended_at is null`),
    index("order_attention_by_order").on(t.orderId, t.kind),
    index("order_attention_by_store").on(t.tenantId, t.createdAt).where(sql`ended_at is null`),
    check("order_attention_kind", sql`${t.kind} in (${sql.raw(attentionKinds.map((kind) => `'${kind}'`).join(", "))})`),
  ],
);
