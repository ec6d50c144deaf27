import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The change feed, in the order of commits. Each row is written in the transaction of the change. */
export const events = sqliteTable(
  "events",
  {
    sequence: integer("sequence").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    tenantId: tenantIdColumn(),
    /** Such as `order.paid`. */
    type: text("type").notNull(),
    /** Id of the record that changed. */
    subject: text("subject").notNull(),
    /** JSON object, a summary of the change without personal data and secrets. */
    data: text("data").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [index("events_by_tenant").on(t.tenantId, t.sequence), index("events_by_age").on(t.createdAt)],
);
