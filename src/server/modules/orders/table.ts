import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn, tenants } from "../tenants/table.ts";

const amount = (name: string) => integer(name).notNull().default(0);

export const orderNumbers = sqliteTable("order_numbers", {
  tenantId: text("tenant_id")
    .primaryKey()
    .references(() => tenants.id, { onDelete: "cascade" }),
  last: integer("last").notNull().default(0),
});

/** Orders, stored by number without rowid. Amounts are in minor units of `currency`, and fixed at creation. */
export const orders = sqliteTable(
  "orders",
  {
    id: text("id").notNull().unique(),
    tenantId: tenantIdColumn(),
    number: integer("number").notNull(),
    userId: text("user_id"),
    /** Whose limits a pending order counts towards: the customer, or a keyed hash of a guest's address. */
    buyer: text("buyer"),
    status: text("status", { enum: ["pending", "paid", "completed", "cancelled", "expired"] }).notNull(),
    paymentStatus: text("payment_status", { enum: ["unpaid", "paid", "partially_refunded", "refunded"] }).notNull(),
    fulfillmentStatus: text("fulfillment_status", { enum: ["unfulfilled", "fulfilled"] }).notNull(),
    currency: text("currency").notNull(),
    currencyDigits: integer("currency_digits").notNull(),
    subtotalMinor: amount("subtotal_minor"),
    discountMinor: amount("discount_minor"),
    shippingMinor: amount("shipping_minor"),
    taxMinor: amount("tax_minor"),
    totalMinor: amount("total_minor"),
    refundedMinor: amount("refunded_minor"),
    pointsUsed: amount("points_used"),
    pointsEarned: amount("points_earned"),
    /** Used points that refunds have returned, and earned points that refunds have reversed. */
    pointsReturned: amount("points_returned"),
    pointsReversed: amount("points_reversed"),
    paymentReference: text("payment_reference"),
    shippingAddress: text("shipping_address"),
    note: text("note"),
    lang: text("lang").notNull(),
    version: integer("version").notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    expiresAt: text("expires_at").notNull(),
    paidAt: text("paid_at"),
    fulfilledAt: text("fulfilled_at"),
    cancelledAt: text("cancelled_at"),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.number] }),
    uniqueIndex("orders_payment_reference")
      .on(t.tenantId, t.paymentReference)
      .where(sql`payment_reference is not null`),
    index("orders_by_created").on(t.tenantId, t.createdAt, t.id),
    index("orders_by_updated").on(t.tenantId, t.updatedAt, t.id),
    index("orders_by_status").on(t.tenantId, t.status, t.createdAt, t.id),
    index("orders_by_user").on(t.tenantId, t.userId, t.createdAt, t.id).where(sql`user_id is not null`),
    index("orders_by_buyer").on(t.tenantId, t.buyer).where(sql`buyer is not null`),
    check("orders_status", sql`${t.status} in ('pending', 'paid', 'completed', 'cancelled', 'expired')`),
    check("orders_payment", sql`${t.paymentStatus} in ('unpaid', 'paid', 'partially_refunded', 'refunded')`),
    check("orders_fulfillment", sql`${t.fulfillmentStatus} in ('unfulfilled', 'fulfilled')`),
    check(
      "orders_amounts",
      sql`${t.subtotalMinor} >= 0 and ${t.shippingMinor} >= 0 and ${t.taxMinor} >= 0
        and ${t.discountMinor} between 0 and ${t.subtotalMinor} and ${t.totalMinor} <= 9007199254740991
        and ${t.totalMinor} = ${t.subtotalMinor} - ${t.discountMinor} + ${t.shippingMinor} + ${t.taxMinor}`,
    ),
    check("orders_refunds", sql`${t.refundedMinor} between 0 and ${t.totalMinor}`),
    check("orders_points_returned", sql`${t.pointsReturned} between 0 and ${t.pointsUsed}`),
    check("orders_points_reversed", sql`${t.pointsReversed} between 0 and ${t.pointsEarned}`),
    check("orders_address", sql`${t.shippingAddress} is null or json_valid(${t.shippingAddress})`),
  ],
);

/** Lines of orders: snapshots of the products at the time of the order. Without rowid, so the table needs no index. */
export const orderLines = sqliteTable(
  "order_lines",
  {
    /** Lines are read by `order_id`, so this column needs no index. */
    id: text("id").notNull(),
    tenantId: tenantIdColumn(),
    orderId: ownerColumn("order_id", () => orders.id),
    position: integer("position").notNull(),
    productId: text("product_id").notNull(),
    variantId: text("variant_id"),
    title: text("title").notNull(),
    variantTitle: text("variant_title"),
    sku: text("sku"),
    options: text("options").notNull().default("{}"),
    image: text("image"),
    priceMinor: integer("price_minor").notNull(),
    quantity: integer("quantity").notNull(),
    subtotalMinor: integer("subtotal_minor").notNull(),
    discountMinor: amount("discount_minor"),
    taxMinor: amount("tax_minor"),
    totalMinor: integer("total_minor").notNull(),
    /** Whether the item's stock was counted at the time of the order, so that it was reserved. */
    isCounted: integer("is_counted", { mode: "boolean" }).notNull(),
    refundedQuantity: amount("refunded_quantity"),
    refundedMinor: amount("refunded_minor"),
    restockedQuantity: amount("restocked_quantity"),
  },
  (t) => [
    primaryKey({ columns: [t.orderId, t.position] }),
    check("order_lines_quantity", sql`${t.quantity} > 0`),
    check(
      "order_lines_amounts",
      sql`${t.subtotalMinor} = ${t.priceMinor} * ${t.quantity} and ${t.taxMinor} >= 0
        and ${t.discountMinor} between 0 and ${t.subtotalMinor}
        and ${t.totalMinor} = ${t.subtotalMinor} - ${t.discountMinor} + ${t.taxMinor}`,
    ),
    check(
      "order_lines_refunds",
      sql`${t.refundedQuantity} between 0 and ${t.quantity} and ${t.refundedMinor} between 0 and ${t.totalMinor}
        and ${t.restockedQuantity} between 0 and ${t.refundedQuantity}`,
    ),
  ],
);

export const orderRefunds = sqliteTable(
  "order_refunds",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    orderId: ownerColumn("order_id", () => orders.id),
    amountMinor: integer("amount_minor").notNull(),
    /** JSON array of `{line_id, quantity, amount_minor, restock}`. */
    lines: text("lines").notNull(),
    reason: text("reason"),
    pointsReturned: amount("points_returned"),
    pointsReversed: amount("points_reversed"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    index("order_refunds_by_order").on(t.orderId, t.id),
    check("order_refunds_amount", sql`${t.amountMinor} >= 0`),
    check("order_refunds_json", sql`json_valid(${t.lines})`),
  ],
);
