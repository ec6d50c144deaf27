import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The fingerprint of the secret key, with which a server detects at start that it has another key. */
export const secretFingerprint = sqliteTable(
  "secret_fingerprint",
  {
    id: integer("id").primaryKey(),
    value: text("value").notNull(),
  },
  (t) => [check("secret_fingerprint_single_row", sql`${t.id} = 1`)],
);
