import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The number of the last group that each process wrote to a libSQL server, which tells whether a COMMIT without an answer took effect. */
export const writeGroups = sqliteTable("write_groups", {
  /** Another one at each start of a process. */
  writer: text("writer").primaryKey(),
  lastGroup: integer("last_group").notNull(),
});
