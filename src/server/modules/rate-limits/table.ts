import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * One row per counted subject, with the times of its latest hits. A row never holds more hits than its limit, and is
 * swept once its window has passed, so the table stays as small as the recent traffic.
 */
export const rateLimits = sqliteTable(
  "rate_limits",
  {
    /** Limit and subject, such as `auth:203.0.113.7`. */
    key: text("key").primaryKey(),
    /** JSON array of epoch milliseconds, oldest first. */
    hits: text("hits").notNull(),
    /** Epoch milliseconds from which the row means nothing. */
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [index("rate_limits_by_expiry").on(t.expiresAt)],
);
