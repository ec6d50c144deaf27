import { sql } from "drizzle-orm";
import { check, index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** Ended tokens are kept, even of deleted users, so that a request with one fails with tokenExpired. */
export const userTokens = sqliteTable(
  "user_tokens",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    userId: text("user_id").notNull(),
    /** SHA-256 of the token, in hex. A token has 256 random bits, so it needs no slow hash. */
    hash: text("hash").notNull().unique(),
    createdAt: text("created_at").notNull(),
    expiresAt: text("expires_at").notNull(),
    endedAt: text("ended_at"),
    endedAs: text("ended_as", { enum: ["rotated", "replaced", "revoked"] }),
  },
  (t) => [
    // A user has at most one active token.
    uniqueIndex("user_tokens_active").on(t.tenantId, t.userId).where(sql`ended_at is null`),
    index("user_tokens_by_user").on(t.tenantId, t.userId),
    index("user_tokens_by_tenant").on(t.tenantId, t.createdAt, t.id),
    index("user_tokens_by_expiry").on(t.expiresAt),
    check("user_tokens_end", sql`(${t.endedAt} is null) = (${t.endedAs} is null)`),
    check("user_tokens_ended_as", sql`${t.endedAs} in ('rotated', 'replaced', 'revoked')`),
  ],
);
