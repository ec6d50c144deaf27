import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";

export const media = sqliteTable(
  "media",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    /** SHA-256 of the uploaded bytes. It finds a file that the store already has. */
    sourceHash: text("source_hash").notNull(),
    width: integer("width").notNull(),
    height: integer("height").notNull(),
    bytes: integer("bytes").notNull(),
    /** Whether the picture's bytes are in S3 instead of `media_blobs`. */
    inS3: integer("in_s3", { mode: "boolean" }).notNull(),
    /** Triggers count the products and variants that use the picture, and set `unused_since` when there are none. */
    uses: integer("uses").notNull().default(0),
    unusedSince: text("unused_since").notNull(),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("media_source").on(t.tenantId, t.sourceHash),
    index("media_sizes").on(t.tenantId, t.bytes),
    index("media_unused").on(t.unusedSince).where(sql`uses = 0`),
  ],
);

/** The bytes of pictures as WebP. They are not in `media`, where each change of a row would write them again. */
export const mediaBlobs = sqliteTable(
  "media_blobs",
  {
    tenantId: tenantIdColumn(),
    mediaId: ownerColumn("media_id", () => media.id),
    width: integer("width").notNull(),
    bytes: blob("bytes", { mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.mediaId, t.width] }), index("media_blobs_by_tenant").on(t.tenantId)],
);

/** S3 folders of removed pictures, which `purgeTrash` deletes. A trigger adds rows, also when a store is removed. */
export const mediaTrash = sqliteTable(
  "media_trash",
  {
    folder: text("folder").primaryKey(),
    removedAt: text("removed_at").notNull(),
  },
  (t) => [index("media_trash_by_age").on(t.removedAt)],
);
