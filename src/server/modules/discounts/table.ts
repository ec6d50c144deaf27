import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";

/** Discount codes of a store. Amounts are in minor units of its currency. */
export const discounts = sqliteTable(
  "discounts",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    code: text("code").notNull(),
    codeKey: text("code_key").notNull(),
    /** The reduction in thousandths of a percent; null for other kinds of discounts. */
    percent: integer("percent"),
    amountMinor: integer("amount_minor"),
    freeShipping: integer("free_shipping", { mode: "boolean" }).notNull().default(false),
    /** The code applies only if the goods cost at least this much before the discount. */
    minimumMinor: integer("minimum_minor"),
    /** JSON arrays of ids. If both are empty, the code applies to everything. */
    productIds: text("product_ids").notNull().default("[]"),
    categoryIds: text("category_ids").notNull().default("[]"),
    beginsAt: text("begins_at"),
    endsAt: text("ends_at"),
    maxUses: integer("max_uses"),
    maxPerCustomer: integer("max_per_customer"),
    /** The number of the code's rows in `discount_uses`. Triggers update this number. */
    uses: integer("uses").notNull().default(0),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("discounts_code").on(t.tenantId, t.codeKey),
    index("discounts_by_created").on(t.tenantId, t.createdAt, t.id),
    check("discounts_percent", sql`${t.percent} is null or ${t.percent} between 1 and 100000`),
    check("discounts_kind", sql`(${t.percent} is not null) + (${t.amountMinor} is not null) + ${t.freeShipping} = 1`),
    check("discounts_uses", sql`${t.uses} between 0 and coalesce(${t.maxUses}, ${t.uses})`),
    check("discounts_json", sql`json_valid(${t.productIds}) and json_valid(${t.categoryIds})`),
  ],
);

/** The orders that use a code. The row of an order is deleted when the order expires or is cancelled. */
export const discountUses = sqliteTable(
  "discount_uses",
  {
    orderId: text("order_id").notNull(),
    tenantId: tenantIdColumn(),
    discountId: ownerColumn("discount_id", () => discounts.id),
    userId: text("user_id"),
    emailKey: text("email_key"),
  },
  (t) => [
    primaryKey({ columns: [t.orderId] }),
    index("discount_uses_by_user").on(t.discountId, t.userId).where(sql`user_id is not null`),
    index("discount_uses_by_email").on(t.discountId, t.emailKey).where(sql`email_key is not null`),
  ],
);
