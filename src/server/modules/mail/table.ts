import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";
import type { MailKind } from "./kinds.ts";

/** Mail in the outbox: waiting, or ended less than thirty days ago. */
export const mailOutbox = sqliteTable(
  "mail_outbox",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    kind: text("kind").$type<MailKind>().notNull(),
    /** Keyed hash of the subject; a later mail with the same one replaces this one while it waits. */
    subjectKey: text("subject_key"),
    /** Keyed hash of the recipient's address, by which a person's mail is found; null once the person is erased. */
    recipientKey: text("recipient_key"),
    /** Recipient and contents, sealed with the server's key; erased once the mail has ended. */
    sealed: text("sealed"),
    maskedTo: text("masked_to"),
    status: text("status", { enum: ["queued", "sent", "failed", "expired", "dropped"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    /** When it is due; a claim moves this to the end of its lease. */
    nextAttemptAt: text("next_attempt_at").notNull(),
    usefulUntil: text("useful_until"),
    lastError: text("last_error"),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    sentAt: text("sent_at"),
  },
  (t) => [
    index("mail_outbox_due").on(t.nextAttemptAt).where(sql`status = 'queued'`),
    index("mail_outbox_by_subject").on(t.tenantId, t.subjectKey).where(sql`status = 'queued'`),
    index("mail_outbox_by_recipient").on(t.tenantId, t.recipientKey),
    index("mail_outbox_by_tenant").on(t.tenantId, t.createdAt, t.id),
    index("mail_outbox_done").on(t.updatedAt).where(sql`status <> 'queued'`),
    check("mail_outbox_status", sql`${t.status} in ('queued', 'sent', 'failed', 'expired', 'dropped')`),
    check("mail_outbox_erased", sql`${t.status} in ('queued', 'failed') or ${t.sealed} is null`),
  ],
);
