import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The audit log: actor, act, time and address. Triggers refuse deletes, and all changes of a linked row except erasing
 * its address. Each row has a hash over itself and the previous row's hash. Rows outlive their store, key or user.
 */
export const auditLog = sqliteTable(
  "audit_log",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    at: text("at").notNull(),
    event: text("event").notNull(),
    namespace: text("namespace"),
    /** The kind of the actor: `app`, `user`, `visitor`, `terminal` or `server`. */
    actorKind: text("actor_kind").notNull(),
    actorId: text("actor_id"),
    subject: text("subject"),
    /** Erased after a while, together with its salt. The row's hash covers `address_hash` instead. */
    address: text("address"),
    addressSalt: text("address_salt"),
    /** SHA-256, in hex, of salt and address; null for an act without an address. */
    addressHash: text("address_hash"),
    requestId: text("request_id").notNull(),
    code: integer("code"),
    details: text("details"),
    hash: text("hash").notNull(),
  },
  (t) => [
    index("audit_log_by_namespace").on(t.namespace, t.seq),
    index("audit_log_by_subject").on(t.subject, t.seq),
    index("audit_log_by_actor").on(t.actorId, t.seq),
    index("audit_log_by_address").on(t.address, t.seq),
    index("audit_log_by_event").on(t.event, t.seq),
    index("audit_log_addresses").on(t.at).where(sql`address is not null`),
  ],
);
