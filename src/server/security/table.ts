import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** A fingerprint of the key, so that a server with another key notices it at start. */
export const secretFingerprint = sqliteTable(
  "secret_fingerprint",
  {
    id: integer("id").primaryKey(),
    value: text("value").notNull(),
  },
  (t) => [check("secret_fingerprint_single_row", sql`${t.id} = 1`)],
);
