import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { orders } from "../orders/table.ts";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";

/** Invoices and credit notes, numbered together. Rows are only added, and an issued page never changes. */
export const invoices = sqliteTable(
  "invoices",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    /** The numbers of a store have no gaps. */
    number: integer("number").notNull(),
    orderId: ownerColumn("order_id", () => orders.id),
    kind: text("kind", { enum: ["invoice", "credit_note"] }).notNull(),
    /** The refund of a credit note: the first of its rows, because a refund has a row for each payment. */
    refundId: text("refund_id"),
    totalMinor: integer("total_minor").notNull(),
    currency: text("currency").notNull(),
    /** The page as it was issued; null once tax law no longer requires it. */
    html: text("html"),
    issuedAt: text("issued_at").notNull(),
  },
  (t) => [
    uniqueIndex("invoices_number").on(t.tenantId, t.number),
    uniqueIndex("invoices_order").on(t.orderId).where(sql`kind = 'invoice'`),
    uniqueIndex("invoices_refund").on(t.refundId).where(sql`refund_id is not null`),
    index("invoices_by_order").on(t.orderId, t.number),
    check("invoices_kind", sql`${t.kind} in ('invoice', 'credit_note')`),
    check("invoices_refund_id", sql`(${t.kind} = 'invoice') = (${t.refundId} is null)`),
    check("invoices_amount", sql`${t.totalMinor} >= 0 and ${t.number} > 0`),
  ],
);
