import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../../tenants/table.ts";

/** SQL for the fields of a withdrawal in the API. */
export const withdrawalFields =
  "'id', id, 'order_id', order_id, 'number', number, 'email', email, 'name', name, 'lines', json(lines), 'text', text, 'created_at', created_at";

/** Declarations of consumers who withdraw from a contract (Directive (EU) 2023/2673), stored as they were sent. */
export const withdrawals = sqliteTable(
  "withdrawals",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    /** Null if no order has the number and the email. */
    orderId: text("order_id"),
    number: integer("number").notNull(),
    email: text("email").notNull(),
    emailKey: text("email_key").notNull(),
    name: text("name").notNull(),
    /** JSON array of `{line_id, quantity}`; null for the whole order. */
    lines: text("lines"),
    text: text("text"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    index("withdrawals_by_store").on(t.tenantId, t.createdAt),
    index("withdrawals_by_order").on(t.orderId),
    index("withdrawals_by_email").on(t.tenantId, t.emailKey),
  ],
);
