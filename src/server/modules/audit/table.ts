import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Who did what, when and from where. Rows are only ever added (triggers refuse anything else), and each carries a hash
 * over itself and the hash of the row before. They outlive the store, key or user that they speak of.
 */
export const auditLog = sqliteTable(
  "audit_log",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    at: text("at").notNull(),
    /** Such as `login.failed` or `key.published`. */
    event: text("event").notNull(),
    /** Namespace of the store; null for what concerns none. */
    namespace: text("namespace"),
    /** `app`, `user`, `visitor`, `terminal` or `server`. */
    actorKind: text("actor_kind").notNull(),
    /** The key, the user or the account of the operating system. */
    actorId: text("actor_id"),
    /** The id of what it was done to. */
    subject: text("subject"),
    address: text("address"),
    requestId: text("request_id").notNull(),
    /** The error's code, where it failed. */
    code: integer("code"),
    /** JSON object of what else there is to know; never a secret. */
    details: text("details"),
    /** SHA-256, in hex. */
    hash: text("hash").notNull(),
  },
  (t) => [
    index("audit_log_by_namespace").on(t.namespace, t.seq),
    index("audit_log_by_subject").on(t.subject, t.seq),
    index("audit_log_by_actor").on(t.actorId, t.seq),
    index("audit_log_by_address").on(t.address, t.seq),
    index("audit_log_by_event").on(t.event, t.seq),
  ],
);
