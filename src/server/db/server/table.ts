import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The last group that each process committed. It shows whether a COMMIT without an answer took effect. */
export const writeGroups = sqliteTable("write_groups", {
  writer: text("writer").primaryKey(),
  lastGroup: integer("last_group").notNull(),
});
