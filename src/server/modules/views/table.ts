import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenants } from "../tenants/table.ts";

/** Views of a resource by day (UTC). Their sum is the total in `resource_counts`. */
export const viewDays = sqliteTable(
  "view_days",
  {
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    /** `2026-03-01`. */
    day: text("day").notNull(),
    views: integer("views").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.resourceType, t.resourceId, t.day] }),
    check("view_days_positive", sql`${t.views} > 0`),
  ],
);

/**
 * Who has been counted today, so that nobody is counted twice, by whatever process. A mark is a keyed hash that is
 * another for every resource and day: it names nobody, and says of no two views that they are of one person. It is
 * removed once its day is over.
 */
export const viewMarks = sqliteTable(
  "view_marks",
  {
    day: text("day").notNull(),
    tenantId: text("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    mark: text("mark").notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.tenantId, t.resourceType, t.resourceId, t.mark] })],
);
