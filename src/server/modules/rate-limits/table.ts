import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * One row per counted subject, with the times of its latest hits. A row never holds more hits than its limit, and is
 * purged once its window has passed, so the table stays as small as the recent traffic.
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
 * Public writes that one process has counted lately, for the other processes. A process writes at most two rows a second
 * under any load; rows are removed once their window has passed.
 */
export const publicHits = sqliteTable(
  "public_hits",
  {
    /** Never used again, so that a process can pull the rows after the last one it has seen. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    process: text("process").notNull(),
    writtenAt: integer("written_at").notNull(),
    /** JSON: `{"<subject>": [{"at", "hits"}, …]}`, at in epoch milliseconds. Subjects are keyed hashes. */
    hits: text("hits").notNull(),
  },
  (t) => [index("public_hits_by_age").on(t.writtenAt)],
);
