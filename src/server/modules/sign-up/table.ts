import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/**
 * Unverified accounts: the latest three of an address with a code, and one without for each client. Addresses that
 * have an account are here too, so that replies take the same time.
 */
export const signUps = sqliteTable(
  "sign_ups",
  {
    tenantId: tenantIdColumn(),
    emailKey: text("email_key").notNull(),
    /** 1 to 3 with a code of its own, 4 to 19 without. */
    slot: integer("slot").notNull(),
    email: text("email").notNull(),
    name: text("name"),
    lang: text("lang"),
    passwordHash: text("password_hash").notNull(),
    /** The visitor whose likes and bookmarks become the user's. */
    visitorId: text("visitor_id"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.emailKey, t.slot] }), index("sign_ups_by_age").on(t.createdAt)],
);
