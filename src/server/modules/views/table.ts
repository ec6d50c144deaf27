import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** Views of a resource by day (UTC). Their sum is the total in `resource_counts`. */
export const viewDays = sqliteTable(
  "view_days",
  {
    tenantId: tenantIdColumn(),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    day: text("day").notNull(),
    views: integer("views").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.resourceType, t.resourceId, t.day] }),
    check("view_days_positive", sql`${t.views} > 0`),
  ],
);

/**
 * Dedup keys of counted views, so that no process counts a viewer twice. A key is a keyed hash that differs for each
 * resource and day, so it identifies nobody and links no two views. It is purged after its day.
 */
export const viewDedupKeys = sqliteTable(
  "view_dedup_keys",
  {
    day: text("day").notNull(),
    tenantId: tenantIdColumn(),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    dedupKey: text("dedup_key").notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.tenantId, t.resourceType, t.resourceId, t.dedupKey] })],
);
