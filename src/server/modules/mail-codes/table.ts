import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The latest code of each subject, purpose and slot. Emails without accounts have codes, so replies do not differ. */
export const mailCodes = sqliteTable(
  "mail_codes",
  {
    tenantId: tenantIdColumn(),
    purpose: text("purpose", { enum: ["reset", "login", "sign_up", "email"] }).notNull(),
    /** The normalized email; for a change of email, `<user id>:<email>`. */
    subject: text("subject").notNull(),
    /** A new code replaces the code in its slot: slot 1 for invitations, slot 0 for other codes. */
    slot: integer("slot").notNull().default(0),
    /** HMAC of the code. A plain hash of six digits could be reversed at once. */
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
