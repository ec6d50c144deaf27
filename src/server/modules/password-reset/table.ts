import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/**
 * The latest reset code of an address. Addresses that belong to nobody have one too, which is never sent: otherwise
 * what a reset answers would tell who has an account.
 */
export const passwordResetCodes = sqliteTable(
  "password_reset_codes",
  {
    tenantId: tenantIdColumn(),
    emailKey: text("email_key").notNull(),
    /** HMAC of the code with the server's key: six digits would be found again in a plain hash at once. */
    hash: text("hash").notNull(),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
    wrongTries: integer("wrong_tries").notNull().default(0),
    usedAt: text("used_at"),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.emailKey] }),
    index("password_reset_codes_by_expiry").on(t.expiresAt),
    check("password_reset_codes_tries", sql`${t.wrongTries} between 0 and 5`),
  ],
);
