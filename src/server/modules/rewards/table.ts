import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The balance of each user: the sum of the user's entries. The rows of a deleted user stay. */
export const rewardBalances = sqliteTable(
  "reward_balances",
  {
    tenantId: tenantIdColumn(),
    userId: text("user_id").notNull(),
    balance: integer("balance").notNull().default(0),
    version: integer("version").notNull().default(1),
    updatedAt: text("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("reward_balances_user").on(t.tenantId, t.userId),
    check("reward_balances_balance", sql`${t.balance} between 0 and 9007199254740991`),
  ],
);

/** The ledger. Triggers refuse changes of entries. */
export const rewardEntries = sqliteTable(
  "reward_entries",
  {
    sequence: integer("sequence").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    tenantId: tenantIdColumn(),
    userId: text("user_id").notNull(),
    kind: text("kind", { enum: ["earn", "redeem", "reverse", "expire", "adjust"] }).notNull(),
    points: integer("points").notNull(),
    balance: integer("balance").notNull(),
    /** The reason of the entry, such as `order:ord_…:earn`. Each source of a user has one entry. */
    source: text("source").notNull(),
    orderId: text("order_id"),
    note: text("note"),
    /** For points that an order spent: their lots `[points, expires_at]` as JSON, in the order of spending. */
    lots: text("lots"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("reward_entries_source").on(t.tenantId, t.userId, t.source),
    index("reward_entries_by_user").on(t.tenantId, t.userId, t.sequence),
    check("reward_entries_kind", sql`${t.kind} in ('earn', 'redeem', 'reverse', 'expire', 'adjust')`),
    check("reward_entries_points", sql`${t.points} <> 0`),
    check("reward_entries_balance", sql`${t.balance} >= 0`),
  ],
);

/** SQL for the order of spending: the lots that expire first; lots without expiry last. */
export const spendingOrder = sql.raw("expires_at is null, expires_at, sequence");

/** Unspent points. A user's lots add up to the balance. Points with the same expiry are in one lot. */
export const rewardLots = sqliteTable(
  "reward_lots",
  {
    sequence: integer("sequence")
      .primaryKey()
      .references(() => rewardEntries.sequence, { onDelete: "cascade" }),
    tenantId: tenantIdColumn(),
    userId: text("user_id").notNull(),
    remaining: integer("remaining").notNull(),
    expiresAt: text("expires_at"),
  },
  (t) => [
    index("reward_lots_open").on(t.tenantId, t.userId, t.sequence).where(sql`remaining > 0`),
    index("reward_lots_due").on(t.expiresAt).where(sql`remaining > 0 and expires_at is not null`),
    check("reward_lots_remaining", sql`${t.remaining} >= 0`),
  ],
);
