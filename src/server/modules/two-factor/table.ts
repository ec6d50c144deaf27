import { sql } from "drizzle-orm";
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";
import { users } from "../users/table.ts";

/** A user's second factor. Once it is confirmed, each sign-in requires it. */
export const twoFactor = sqliteTable("two_factor", {
  userId: text("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  tenantId: tenantIdColumn(),
  secret: text("secret").notNull(),
  confirmedAt: text("confirmed_at"),
  /** The time step of the last accepted code. Only codes of later steps are accepted. */
  lastStep: integer("last_step").notNull().default(0),
  createdAt: text("created_at").notNull(),
});

/** SQL condition on a row of `users`: the user's sign-ins require a second factor. */
export const hasTwoFactor = sql`exists (
  select 1 from ${twoFactor} where user_id = users.id and confirmed_at is not null)`;

export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    userId: ownerColumn("user_id", () => users.id),
    tenantId: tenantIdColumn(),
    hash: text("hash").notNull(),
    usedAt: text("used_at"),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hash] })],
);
