import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The first replies to requests with an `Idempotency-Key`, written in the request's transaction; kept for a day. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    tenantId: tenantIdColumn(),
    caller: text("caller").notNull(),
    key: text("key").notNull(),
    /** Keyed hash of method, path, query, body, language and subject; not of credentials. */
    fingerprint: text("fingerprint").notNull(),
    status: integer("status").notNull(),
    data: text("data").notNull(),
    etag: integer("etag"),
    language: text("language"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("idempotency_keys_key").on(t.tenantId, t.caller, t.key),
    index("idempotency_keys_by_age").on(t.createdAt),
  ],
);
