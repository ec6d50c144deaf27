import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { tenantIdColumn } from "../tenants/table.ts";

/** The balance of each user: the sum of the ledger, never negative. Like the ledger, it outlives the user. */
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

/** The ledger. Triggers prevent changes; each source has one entry. */
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
    /** The reason of the entry, such as `order:ord_…:earn`. No source is booked twice. */
    source: text("source").notNull(),
    orderId: text("order_id"),
    note: text("note"),
    /** If an order spent points: JSON of the lots of these points in the order of spending: `[points, expires_at]`. */
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

/** Lots are spent in the order of expiry; those without an expiry come last. */
export const spendingOrder = sql.raw("expires_at is null, expires_at, sequence");

/** Points not spent yet; a user's lots add up to the balance. Points with the same expiry are in one lot. */
export const rewardLots = sqliteTable(
  "reward_lots",
  {
    sequence: integer("sequence")
      .primaryKey()
      .references(() => rewardEntries.sequence, { onDelete: "cascade" }),
    tenantId: tenantIdColumn(),
    userId: text("user_id").notNull(),
    /** The most points that the lot ever had, including the points of earlier lots that it took over. */
    points: integer("points").notNull(),
    remaining: integer("remaining").notNull(),
    expiresAt: text("expires_at"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    index("reward_lots_open").on(t.tenantId, t.userId, t.sequence).where(sql`remaining > 0`),
    index("reward_lots_due").on(t.expiresAt).where(sql`remaining > 0 and expires_at is not null`),
    check("reward_lots_remaining", sql`${t.remaining} between 0 and ${t.points}`),
  ],
);
