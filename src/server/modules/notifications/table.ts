import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { deliveryColumns } from "../../delivery/claim.ts";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";
import { users } from "../users/table.ts";

/** The keys that identify this server to push services (VAPID, RFC 8292); one pair for all stores. */
export const vapidKeys = sqliteTable(
  "vapid_keys",
  {
    id: integer("id").primaryKey(),
    publicKey: text("public_key").notNull(),
    privateKey: text("private_key").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [check("vapid_keys_single_row", sql`${t.id} = 1`)],
);

export const pushRegistrations = sqliteTable(
  "push_registrations",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    platform: text("platform", { enum: ["web", "ios", "android"] }).notNull(),
    targetKey: text("target_key").notNull(),
    /** Keyed hash of a subscription's keys. A caller who has them may register the endpoint again. Null for tokens. */
    proofKey: text("proof_key"),
    target: text("target").notNull(),
    userId: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    lang: text("lang"),
    secretHash: text("secret_hash").notNull(),
    /** Whether the registration has received a message. Strangers may register endpoints that never answer. */
    isProven: integer("is_proven", { mode: "boolean" }).notNull().default(false),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    /** When the registration last received a message, accurate to a day; null before the first. */
    deliveredAt: text("delivered_at"),
    usedAt: text("used_at").generatedAlwaysAs(sql`max(updated_at, coalesce(delivered_at, ''))`, { mode: "virtual" }),
  },
  (t) => [
    uniqueIndex("push_registrations_target").on(t.tenantId, t.targetKey),
    index("push_registrations_by_tenant").on(t.tenantId, t.id),
    index("push_registrations_by_user").on(t.userId).where(sql`user_id is not null`),
    index("push_registrations_by_use").on(t.usedAt),
    check("push_registrations_platform", sql`${t.platform} in ('web', 'ios', 'android')`),
  ],
);

export type PushPlatform = typeof pushRegistrations.$inferSelect.platform;

export const pushCounts = sqliteTable("push_counts", {
  tenantId: tenantIdColumn().primaryKey(),
  registrations: integer("registrations").notNull(),
});

export const pushTopics = sqliteTable(
  "push_topics",
  {
    tenantId: tenantIdColumn(),
    topic: text("topic").notNull(),
    registrationId: ownerColumn("registration_id", () => pushRegistrations.id),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.topic, t.registrationId] }),
    index("push_topics_by_registration").on(t.registrationId),
  ],
);

export const pushMessages = sqliteTable(
  "push_messages",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    kind: text("kind", { enum: ["order", "message"] }).notNull(),
    /** JSON object: title, body and url of a message; id, number and event of an order. */
    content: text("content").notNull(),
    topic: text("topic"),
    userId: text("user_id"),
    lang: text("lang"),
    /** The last registration for which a delivery was created; null after all deliveries were created. */
    position: text("position"),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
  },
  (t) => [
    index("push_messages_by_tenant").on(t.tenantId, t.id),
    index("push_messages_unfinished").on(t.id).where(sql`position is not null`),
    index("push_messages_by_age").on(t.createdAt),
    check("push_messages_kind", sql`${t.kind} in ('order', 'message')`),
    check("push_messages_content", sql`json_valid(${t.content})`),
  ],
);

export const pushDeliveries = sqliteTable(
  "push_deliveries",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    messageId: ownerColumn("message_id", () => pushMessages.id),
    registrationId: text("registration_id").references(() => pushRegistrations.id, { onDelete: "set null" }),
    platform: text("platform", { enum: ["web", "ios", "android"] }).notNull(),
    /** 0 for orders, 2 for messages; plus 1 if the registration never received anything. */
    priority: integer("priority").notNull(),
    status: text("status", { enum: ["waiting", "sent", "failed", "dropped", "expired"] }).notNull(),
    ...deliveryColumns,
  },
  (t) => [
    uniqueIndex("push_deliveries_once").on(t.messageId, t.registrationId),
    index("push_deliveries_by_registration").on(t.registrationId),
    index("push_deliveries_due").on(t.tenantId, t.priority, t.nextAttemptAt).where(sql`status = 'waiting'`),
    index("push_deliveries_by_age").on(t.status, t.finishedAt),
    check("push_deliveries_platform", sql`${t.platform} in ('web', 'ios', 'android')`),
    check("push_deliveries_status", sql`${t.status} in ('waiting', 'sent', 'failed', 'dropped', 'expired')`),
  ],
);
