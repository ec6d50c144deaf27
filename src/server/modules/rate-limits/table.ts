import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * One row per subject, with the times of its latest hits. A row has at most as many hits as its limit. It is purged
 * after its window.
 */
export const rateLimits = sqliteTable(
  "rate_limits",
  {
    /** Limit and subject, such as `auth:` and the keyed hash of an address. */
    key: text("key").primaryKey(),
    hits: text("hits").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [index("rate_limits_by_expiry").on(t.expiresAt)],
);

/**
 * Recent public writes that one process counted and the other processes read. A process adds at most two rows a second.
 * Rows are removed after their window.
 */
export const publicHits = sqliteTable(
  "public_hits",
  {
    /** Never reused, so that a process can pull the rows after the last one it has seen. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    process: text("process").notNull(),
    writtenAt: integer("written_at").notNull(),
    /** JSON: `[["<subject>", <at>], …]`, at in epoch milliseconds. Subjects are keyed hashes. */
    hits: text("hits").notNull(),
  },
  (t) => [index("public_hits_by_age").on(t.writtenAt)],
);
