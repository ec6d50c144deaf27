import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The shipping rates of a store, in minor units of its currency and in grams. Without any row, shipping is free. */
export const shippingRates = sqliteTable(
  "shipping_rates",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    position: integer("position").notNull(),
    zone: text("zone").notNull(),
    /** JSON arrays of country codes, in which `*` stands for all others, and of beginnings of postcodes. */
    countries: text("countries").notNull(),
    postcodes: text("postcodes").notNull().default("[]"),
    name: text("name").notNull(),
    /** JSON object with the name of the rate in each language. */
    names: text("names").notNull().default("{}"),
    priceMinor: integer("price_minor").notNull(),
    freeFromMinor: integer("free_from_minor"),
    minValueMinor: integer("min_value_minor"),
    maxValueMinor: integer("max_value_minor"),
    minWeight: integer("min_weight_g"),
    maxWeight: integer("max_weight_g"),
    /** The tax class of shipping. If it is null, shipping is taxed like the goods. */
    taxClass: text("tax_class"),
  },
  (t) => [
    uniqueIndex("shipping_rates_name").on(t.tenantId, t.zone, t.name),
    check("shipping_rates_price", sql`${t.priceMinor} between 0 and 9007199254740991`),
    check(
      "shipping_rates_json",
      sql`json_valid(${t.countries}) and json_valid(${t.postcodes}) and json_valid(${t.names})`,
    ),
  ],
);
