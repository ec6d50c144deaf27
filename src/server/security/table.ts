import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The fingerprint of the database's secret key. A server with another key notices this at its start. */
export const secretFingerprint = sqliteTable(
  "secret_fingerprint",
  {
    id: integer("id").primaryKey(),
    value: text("value").notNull(),
  },
  (t) => [check("secret_fingerprint_single_row", sql`${t.id} = 1`)],
);
