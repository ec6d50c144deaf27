import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../../tenants/table.ts";

/** Products and variants whose low stock was mailed. A trigger removes a row once the item has enough stock again. */
export const lowStock = sqliteTable(
  "low_stock",
  {
    itemId: text("item_id").primaryKey(),
    tenantId: tenantIdColumn(),
    /** The order that made the stock low, which is the cause of the mail. */
    causeId: text("cause_id").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [index("low_stock_by_store").on(t.tenantId)],
);
