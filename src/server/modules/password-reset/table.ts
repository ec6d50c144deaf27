import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/**
 * The latest reset code of an address. Addresses without a user have one too, which is never sent: otherwise the
 * replies to a reset would reveal who has an account.
 */
export const passwordResetCodes = sqliteTable(
  "password_reset_codes",
  {
    tenantId: tenantIdColumn(),
    emailKey: text("email_key").notNull(),
    /** HMAC of the code with the server's key, because a plain hash of six digits can be reversed at once. */
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
