import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The change feed, in the order of commits. Each row is written in the transaction of the change. */
export const events = sqliteTable(
  "events",
  {
    /** Numbers only increase, because the newest event of a store is never purged. */
    sequence: integer("sequence").primaryKey(),
    /** The id ends with the sequence. Rows are found by the sequence, so the id needs no index. */
    id: text("id").notNull(),
    tenantId: tenantIdColumn(),
    type: text("type").notNull(),
    subject: text("subject").notNull(),
    data: text("data").notNull(),
    createdAt: text("created_at").notNull(),
    isShown: integer("is_shown", { mode: "boolean" }).notNull().default(false),
  },
  // SQLite orders equal entries of an index by the rowid, `sequence`, so the indexes do not contain it.
  (t) => [index("events_by_tenant").on(t.tenantId), index("events_shown").on(t.tenantId).where(sql`is_shown`)],
);
