import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenants } from "../tenants/table.ts";

/** Mail that waits to be sent, and for a while what became of it. */
export const mailOutbox = sqliteTable(
  "mail_outbox",
  {
    id: text("id").primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** Name of the template. */
    kind: text("kind").notNull(),
    /** Keyed hash of what it is about; a later mail about the same takes its place while it waits. */
    subjectKey: text("subject_key"),
    /** Recipient and contents, sealed with the server's key; null once nothing will be sent any more. */
    sealed: text("sealed"),
    status: text("status", { enum: ["queued", "sent", "failed", "expired", "dropped"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    /** From when on it may be tried; a sender that takes it moves this on, so that no other takes it meanwhile. */
    nextAttemptAt: text("next_attempt_at").notNull(),
    /** After this time nobody wants it any more. */
    usefulUntil: text("useful_until"),
    lastError: text("last_error"),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    sentAt: text("sent_at"),
  },
  (t) => [
    index("mail_outbox_due").on(t.nextAttemptAt).where(sql`status = 'queued'`),
    index("mail_outbox_by_subject").on(t.tenantId, t.subjectKey).where(sql`status = 'queued'`),
    index("mail_outbox_by_tenant").on(t.tenantId, t.createdAt, t.id),
    index("mail_outbox_done").on(t.updatedAt).where(sql`status <> 'queued'`),
    check("mail_outbox_status", sql`${t.status} in ('queued', 'sent', 'failed', 'expired', 'dropped')`),
    check("mail_outbox_erased", sql`${t.status} in ('queued', 'failed') or ${t.sealed} is null`),
  ],
);
