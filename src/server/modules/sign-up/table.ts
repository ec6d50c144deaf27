import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/**
 * Sign-ups that wait for verification, one for each email and client, so that nobody replaces another person's sign-up.
 * A sign-up with the email of an existing user is stored, too, so that its reply takes the same time.
 */
export const signUps = sqliteTable(
  "sign_ups",
  {
    tenantId: tenantIdColumn(),
    emailKey: text("email_key").notNull(),
    client: text("client").notNull(),
    email: text("email").notNull(),
    name: text("name"),
    lang: text("lang"),
    passwordHash: text("password_hash").notNull(),
    visitorId: text("visitor_id"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.emailKey, t.client] }), index("sign_ups_by_age").on(t.createdAt)],
);
