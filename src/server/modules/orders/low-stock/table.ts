import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../../tenants/table.ts";

/** Items about whose low stock a mail was sent. A trigger removes an item that has enough stock again. */
export const lowStock = sqliteTable(
  "low_stock",
  {
    itemId: text("item_id").primaryKey(),
    tenantId: tenantIdColumn(),
  },
  (t) => [index("low_stock_by_store").on(t.tenantId)],
);
