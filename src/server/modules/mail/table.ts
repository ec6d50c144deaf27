import { sql } from "drizzle-orm";
import { check, index, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { deliveryColumns } from "../../delivery/claim.ts";
import { tenantIdColumn } from "../tenants/table.ts";
import type { MailKind } from "./kinds.ts";

export const mailOutbox = sqliteTable(
  "mail_outbox",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    kind: text("kind").$type<MailKind>().notNull(),
    /** Keyed hash of kind and `replaces`. While this mail waits, a later one with the same hash replaces it. */
    subjectKey: text("subject_key"),
    /** Keyed hash of kind and cause, such as an order. A second mail with the same hash is not queued. */
    causeKey: text("cause_key"),
    /** Keyed hash of the recipient's address, to find a person's mail. Null after the person is erased. */
    recipientKey: text("recipient_key"),
    /** Recipient and contents, encrypted with the server's key. Erased when the mail is sent, expires or is dropped. */
    sealed: text("sealed"),
    maskedTo: text("masked_to"),
    status: text("status", { enum: ["waiting", "sent", "failed", "expired", "dropped"] }).notNull(),
    usefulUntil: text("useful_until"),
    ...deliveryColumns,
  },
  (t) => [
    index("mail_outbox_due").on(t.nextAttemptAt).where(sql`status = 'waiting'`),
    index("mail_outbox_by_subject").on(t.tenantId, t.subjectKey).where(sql`status = 'waiting'`),
    uniqueIndex("mail_outbox_by_cause").on(t.tenantId, t.causeKey).where(sql`cause_key is not null`),
    index("mail_outbox_by_recipient").on(t.tenantId, t.recipientKey),
    index("mail_outbox_by_tenant").on(t.tenantId, t.createdAt, t.id),
    index("mail_outbox_done").on(t.finishedAt).where(sql`status <> 'waiting'`),
    check("mail_outbox_status", sql`${t.status} in ('waiting', 'sent', 'failed', 'expired', 'dropped')`),
    check("mail_outbox_erased", sql`${t.status} in ('waiting', 'failed') or ${t.sealed} is null`),
  ],
);

/** A store's own texts for a kind of mail and a language. They replace the built-in ones. */
export const mailTexts = sqliteTable(
  "mail_texts",
  {
    tenantId: tenantIdColumn(),
    kind: text("kind").$type<MailKind>().notNull(),
    language: text("language").notNull(),
    /** JSON of a `MailText`. */
    text: text("text").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.kind, t.language] }),
    check("mail_texts_json", sql`json_valid(${t.text})`),
  ],
);
