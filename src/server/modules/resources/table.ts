import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** Counts of likes, bookmarks and views. Triggers maintain likes and bookmarks, and copy all counts to the product. */
export const resourceCounts = sqliteTable(
  "resource_counts",
  {
    tenantId: tenantIdColumn(),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    likes: integer("likes").notNull().default(0),
    bookmarks: integer("bookmarks").notNull().default(0),
    views: integer("views").notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.resourceType, t.resourceId] }),
    check("resource_counts_positive", sql`${t.likes} >= 0 and ${t.bookmarks} >= 0 and ${t.views} >= 0`),
  ],
);

export const resourceTypes = sqliteTable(
  "resource_types",
  {
    tenantId: tenantIdColumn(),
    name: text("name").notNull(),
    /** How many resources of this type have counts; maintained by triggers. */
    resources: integer("resources").notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.name] })],
);
