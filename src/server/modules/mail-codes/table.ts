import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The latest code of each subject, purpose and slot. Addresses without an account get codes too, to hide that. */
export const mailCodes = sqliteTable(
  "mail_codes",
  {
    tenantId: tenantIdColumn(),
    purpose: text("purpose", { enum: ["reset", "login", "sign_up", "email"] }).notNull(),
    /** The email address in its comparable form; for a change of email, with the user's id before the address. */
    subject: text("subject").notNull(),
    /** Codes in one slot replace each other: slot 1 is for invitations, 0 for others. */
    slot: integer("slot").notNull().default(0),
    /** HMAC of the code with the server's key, because a plain hash of six digits can be reversed at once. */
    hash: text("hash").notNull(),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
    wrongTries: integer("wrong_tries").notNull().default(0),
    usedAt: text("used_at"),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.purpose, t.subject, t.slot] }),
    index("mail_codes_by_expiry").on(t.expiresAt),
    check("mail_codes_purpose", sql`${t.purpose} in ('reset', 'login', 'sign_up', 'email')`),
    check("mail_codes_tries", sql`${t.wrongTries} between 0 and 5`),
  ],
);
