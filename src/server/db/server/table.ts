import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The last group that each process committed on a libSQL server. After a COMMIT without an answer, it shows whether the
 * COMMIT took effect.
 */
export const writeGroups = sqliteTable("write_groups", {
  /** New at each start of a process. */
  writer: text("writer").primaryKey(),
  lastGroup: integer("last_group").notNull(),
});
