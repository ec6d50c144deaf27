import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenants } from "../tenants/table.ts";

/** First replies to requests with an `Idempotency-Key`, written in the transaction of their effect; kept for a day. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** Who sent it: `app:app_…`, `user:usr_…`, or `visitor`. */
    caller: text("caller").notNull(),
    key: text("key").notNull(),
    /** SHA-256 of method, path, query and body, without credentials. */
    fingerprint: text("fingerprint").notNull(),
    status: integer("status").notNull(),
    /** JSON text of `data`, and what else the reply needs. */
    data: text("data").notNull(),
    etag: integer("etag"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("idempotency_keys_key").on(t.tenantId, t.caller, t.key),
    index("idempotency_keys_by_age").on(t.createdAt),
  ],
);
