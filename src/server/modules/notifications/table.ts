import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenants } from "../tenants/table.ts";
import { users } from "../users/table.ts";

/** The pair of keys by which push services know this server (VAPID, RFC 8292); one for all stores. */
export const vapidKeys = sqliteTable(
  "vapid_keys",
  {
    id: integer("id").primaryKey(),
    /** Base64url of the uncompressed point; browsers subscribe with it. */
    publicKey: text("public_key").notNull(),
    /** Sealed with the server's key. */
    privateKey: text("private_key").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [check("vapid_keys_single_row", sql`${t.id} = 1`)],
);

/** A browser or device that wants to be told. */
export const pushRegistrations = sqliteTable(
  "push_registrations",
  {
    id: text("id").primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    platform: text("platform", { enum: ["web", "ios", "android"] }).notNull(),
    /** Keyed hash of the endpoint or token, so that the same one is found again. */
    targetKey: text("target_key").notNull(),
    /** Keyed hash of a subscription's own keys; null for tokens. Who knows these may register it again. */
    proofKey: text("proof_key"),
    /** JSON of the subscription or token, sealed with the server's key: whoever knows it can send. */
    target: text("target").notNull(),
    /** Whose device it is, where somebody is signed in. */
    userId: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    lang: text("lang"),
    /** SHA-256, in hex. */
    secretHash: text("secret_hash").notNull(),
    /** Whether something has arrived there before: strangers may register what never answers. */
    isProven: integer("is_proven", { mode: "boolean" }).notNull().default(false),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("push_registrations_target").on(t.tenantId, t.targetKey),
    index("push_registrations_by_tenant").on(t.tenantId, t.id),
    index("push_registrations_by_user").on(t.userId).where(sql`user_id is not null`),
    check("push_registrations_platform", sql`${t.platform} in ('web', 'ios', 'android')`),
  ],
);

/** What a registration wants to hear of. */
export const pushTopics = sqliteTable(
  "push_topics",
  {
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    topic: text("topic").notNull(),
    registrationId: text("registration_id")
      .notNull()
      .references(() => pushRegistrations.id, { onDelete: "cascade" }),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.topic, t.registrationId] }),
    index("push_topics_by_registration").on(t.registrationId),
  ],
);

/** What is to be told, to whom. */
export const pushMessages = sqliteTable(
  "push_messages",
  {
    id: text("id").primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** An order's new state, or something that the store has to say. */
    kind: text("kind", { enum: ["order", "message"] }).notNull(),
    /** JSON object: title, body and address of a message; id, number and event of an order. */
    content: text("content").notNull(),
    /** Only those who want to hear of it; null for all. */
    topic: text("topic"),
    /** Only the devices of this user; null for all. */
    userId: text("user_id"),
    /** Only those of this language; null for all. */
    lang: text("lang"),
    /** Up to which registration deliveries have been made; null once all are. */
    position: text("position"),
    createdAt: text("created_at").notNull(),
    /** Later than this nobody wants to hear of it. */
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

/** One message on its way to one device. */
export const pushDeliveries = sqliteTable(
  "push_deliveries",
  {
    id: text("id").primaryKey(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    messageId: text("message_id")
      .notNull()
      .references(() => pushMessages.id, { onDelete: "cascade" }),
    /** Null once the registration is gone. */
    registrationId: text("registration_id").references(() => pushRegistrations.id, { onDelete: "set null" }),
    platform: text("platform", { enum: ["web", "ios", "android"] }).notNull(),
    /**
     * What comes first: 0 for orders, 1 for messages; 2 and 3 for those that go where nothing has arrived yet; 4 and 5 for
     * those of them that got no answer.
     */
    priority: integer("priority").notNull(),
    status: text("status", { enum: ["waiting", "sent", "failed", "dropped", "expired"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    nextAttemptAt: text("next_attempt_at").notNull(),
    /** Until when one sender has it. */
    leasedUntil: text("leased_until"),
    /** HTTP status of the last answer, or null where there was none; and what went wrong, in words. */
    lastStatus: integer("last_status"),
    lastError: text("last_error"),
    createdAt: text("created_at").notNull(),
    finishedAt: text("finished_at"),
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
