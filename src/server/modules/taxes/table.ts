import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The tax rates of a store. Without any row, nothing is taxed. */
export const taxRates = sqliteTable(
  "tax_rates",
  {
    tenantId: tenantIdColumn(),
    country: text("country").notNull(),
    taxClass: text("tax_class").notNull(),
    /** In thousandths of a percent: 19 % is 19000. */
    rate: integer("rate").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.country, t.taxClass] }),
    check("tax_rates_rate", sql`${t.rate} between 0 and 100000`),
  ],
);
