import { sql } from "drizzle-orm";
import { check, index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

export const reactions = sqliteTable(
  "reactions",
  {
    tenantId: tenantIdColumn(),
    kind: text("kind", { enum: ["like", "bookmark"] }).notNull(),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    /** Id of a user or visitor. A trigger deletes the rows of a deleted user. */
    actor: text("actor").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.resourceType, t.resourceId, t.kind, t.actor] }),
    index("reactions_by_actor").on(t.tenantId, t.actor, t.kind, t.createdAt, t.resourceId),
    check("reactions_kind", sql`${t.kind} in ('like', 'bookmark')`),
  ],
);
