import { sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ownerColumn, tenantIdColumn } from "../tenants/table.ts";
import { fulfillmentStatuses, orderStatuses, paymentStatuses } from "./states.ts";

/** SQL for a check of a column. An `in` with three or more values would make SQLite build a temporary index. */
const isOneOf = (column: SQLiteColumn, values: readonly string[]) =>
  sql.join(
    values.map((value) => sql`${column} = ${sql.raw(`'${value}'`)}`),
    sql` or `,
  );

const amount = (name: string) => integer(name).notNull().default(0);

/** SQL conditions of indexes: ended orders, ended unpaid orders of guests, and orders with personal data. */
export const hasEnded = sql.raw("status not in ('pending', 'paid')");
export const isUnpaidGuest = sql.raw(
  "user_id is null and payment_status = 'unpaid' and status in ('cancelled', 'expired')",
);
export const namesPerson = sql.raw(
  "coalesce(email, phone, shipping_address, billing_address, note, staff_note, nullif(metadata, '{}')) is not null",
);

/** Orders, stored by number without rowid. Amounts are in minor units of `currency`, and fixed at creation. */
export const orders = sqliteTable(
  "orders",
  {
    id: text("id").notNull().unique(),
    tenantId: tenantIdColumn(),
    number: integer("number").notNull(),
    userId: text("user_id"),
    /** The customer, or keyed hash of a guest's IP address, whose limits apply to a pending order. */
    buyer: text("buyer"),
    status: text("status", { enum: orderStatuses }).notNull(),
    paymentStatus: text("payment_status", { enum: paymentStatuses }).notNull(),
    fulfillmentStatus: text("fulfillment_status", { enum: fulfillmentStatuses }).notNull(),
    currency: text("currency").notNull(),
    currencyDigits: integer("currency_digits").notNull(),
    subtotalMinor: amount("subtotal_minor"),
    discountMinor: amount("discount_minor"),
    shippingMinor: amount("shipping_minor"),
    /** All tax, and the tax on shipping. If prices include tax, the other amounts contain this tax. */
    taxMinor: amount("tax_minor"),
    shippingTaxMinor: amount("shipping_tax_minor"),
    totalMinor: amount("total_minor"),
    pricesIncludeTax: integer("prices_include_tax", { mode: "boolean" }).notNull().default(false),
    /** JSON array of `{class, rate, base_minor, tax_minor}`; the rate in percent. */
    taxLines: text("tax_lines").notNull().default("[]"),
    /** JSON of `{id, name}` as the buyer saw it. */
    shippingRate: text("shipping_rate"),
    discountCode: text("discount_code"),
    /** Sums of the payments, of the refunds that have not failed, and of the credits of these refunds. */
    receivedMinor: amount("received_minor"),
    refundedMinor: amount("refunded_minor"),
    creditedMinor: amount("credited_minor"),
    paymentMethod: text("payment_method", { enum: ["manual", "stripe"] }),
    pointsUsed: amount("points_used"),
    pointsEarned: amount("points_earned"),
    /** Used points that refunds have returned, and earned points that refunds have reversed. */
    pointsReturned: amount("points_returned"),
    pointsReversed: amount("points_reversed"),
    email: text("email"),
    emailKey: text("email_key"),
    phone: text("phone"),
    shippingAddress: text("shipping_address"),
    billingAddress: text("billing_address"),
    note: text("note"),
    staffNote: text("staff_note"),
    metadata: text("metadata").notNull().default("{}"),
    /** The version of the access tokens. A new version ends all older tokens of the order. */
    accessVersion: integer("access_version").notNull().default(1),
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
    index("orders_by_created").on(t.tenantId, t.createdAt, t.id),
    index("orders_by_updated").on(t.tenantId, t.updatedAt, t.id),
    index("orders_by_status").on(t.tenantId, t.status, t.createdAt, t.id),
    index("orders_by_user").on(t.tenantId, t.userId, t.createdAt, t.id).where(sql`user_id is not null`),
    index("orders_by_buyer").on(t.tenantId, t.buyer).where(sql`buyer is not null`),
    index("orders_by_email").on(t.tenantId, t.emailKey).where(sql`email_key is not null`),
    index("orders_unpaid_guests").on(t.updatedAt).where(sql`${isUnpaidGuest} and ${namesPerson}`),
    index("orders_with_persons").on(t.tenantId, t.updatedAt).where(sql`${hasEnded} and ${namesPerson}`),
    index("orders_by_expiry").on(t.expiresAt).where(sql`status = 'pending'`),
    check("orders_status", isOneOf(t.status, orderStatuses)),
    check("orders_payment", isOneOf(t.paymentStatus, paymentStatuses)),
    check("orders_fulfillment", isOneOf(t.fulfillmentStatus, fulfillmentStatuses)),
    check(
      "orders_amounts",
      sql`${t.subtotalMinor} >= 0 and ${t.shippingMinor} >= 0 and ${t.shippingTaxMinor} between 0 and ${t.taxMinor}
        and ${t.discountMinor} between 0 and ${t.subtotalMinor} and ${t.totalMinor} <= 9007199254740991
        and ${t.totalMinor} = ${t.subtotalMinor} - ${t.discountMinor} + ${t.shippingMinor}
          + iif(${t.pricesIncludeTax}, 0, ${t.taxMinor})`,
    ),
    check("orders_refunds", sql`${t.refundedMinor} between 0 and ${t.receivedMinor}`),
    check("orders_credits", sql`${t.creditedMinor} between 0 and ${t.totalMinor}`),
    check("orders_points_returned", sql`${t.pointsReturned} between 0 and ${t.pointsUsed}`),
    check("orders_points_reversed", sql`${t.pointsReversed} between 0 and ${t.pointsEarned}`),
    check("orders_address", sql`${t.shippingAddress} is null or json_valid(${t.shippingAddress})`),
    check("orders_billing", sql`${t.billingAddress} is null or json_valid(${t.billingAddress})`),
    check("orders_json", sql`json_valid(${t.taxLines}) and json_valid(${t.metadata})`),
  ],
);

/** Lines of orders: snapshots of the products at the time of the order. Stored by key, so no index is needed. */
export const orderLines = sqliteTable(
  "order_lines",
  {
    /** Has no index, because a line is found by its order. */
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
    taxClass: text("tax_class").notNull().default("standard"),
    requiresShipping: integer("requires_shipping", { mode: "boolean" }).notNull().default(true),
    weight: integer("weight_g"),
    /** Whether the item's stock was counted at the time of the order, so that the order has reserved stock. */
    isCounted: integer("is_counted", { mode: "boolean" }).notNull(),
    /** How many pieces were sent, and how many will never be sent. */
    fulfilledQuantity: amount("fulfilled_quantity"),
    cancelledQuantity: amount("cancelled_quantity"),
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
        and ${t.totalMinor} - ${t.subtotalMinor} + ${t.discountMinor} in (0, ${t.taxMinor})`,
    ),
    check(
      "order_lines_refunds",
      sql`${t.refundedQuantity} between 0 and ${t.quantity} and ${t.refundedMinor} between 0 and ${t.totalMinor}
        and ${t.restockedQuantity} between 0 and ${t.refundedQuantity}`,
    ),
    check(
      "order_lines_pieces",
      sql`${t.fulfilledQuantity} >= 0 and ${t.cancelledQuantity} between 0 and ${t.refundedQuantity}
        and ${t.fulfilledQuantity} + ${t.cancelledQuantity} <= ${t.quantity}`,
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
    /** Refunded shipping, including its tax. */
    shippingMinor: amount("shipping_minor"),
    /** The amount by which the refund reduces what the customer owes: 0 for surplus money. */
    creditedMinor: amount("credited_minor"),
    paymentId: text("payment_id"),
    state: text("state", { enum: ["requested", "pending", "succeeded", "failed"] })
      .notNull()
      .default("succeeded"),
    /** JSON array of `{line_id, quantity, amount_minor, restock}`. */
    lines: text("lines").notNull(),
    reason: text("reason"),
    pointsReturned: amount("points_returned"),
    pointsReversed: amount("points_reversed"),
    /** The provider's id of the refund, or of a lost dispute. */
    providerId: text("provider_id"),
    /** The first row of the refund, which has a row for each payment and each repetition; null for the first row. */
    partOf: text("part_of"),
    /** The failed refund that this refund repeats. */
    retryOf: text("retry_of"),
    /** Why the refund failed at the provider. */
    error: text("error"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    index("order_refunds_by_order").on(t.orderId, t.id),
    uniqueIndex("order_refunds_by_provider").on(t.tenantId, t.providerId).where(sql`provider_id is not null`),
    uniqueIndex("order_refunds_retry").on(t.retryOf).where(sql`retry_of is not null`),
    index("order_refunds_requested").on(t.id).where(sql`state = 'requested'`),
    check("order_refunds_amount", sql`${t.amountMinor} >= 0`),
    check("order_refunds_json", sql`json_valid(${t.lines})`),
  ],
);

/** Money that was received for orders. Rows are only added; a reference is booked once. */
export const payments = sqliteTable(
  "payments",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    orderId: ownerColumn("order_id", () => orders.id),
    provider: text("provider", { enum: ["manual", "stripe"] }).notNull(),
    reference: text("reference"),
    amountMinor: integer("amount_minor").notNull(),
    currency: text("currency").notNull(),
    receivedAt: text("received_at").notNull(),
    /** The app key, user or system account that booked the payment. */
    recordedBy: text("recorded_by"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("payments_reference").on(t.tenantId, t.provider, t.reference).where(sql`reference is not null`),
    index("payments_by_order").on(t.orderId, t.id),
    check("payments_amount", sql`${t.amountMinor} between 0 and 9007199254740991`),
  ],
);

export const fulfillments = sqliteTable(
  "fulfillments",
  {
    id: text("id").primaryKey(),
    tenantId: tenantIdColumn(),
    orderId: ownerColumn("order_id", () => orders.id),
    /** JSON array of `{line_id, quantity}`. */
    lines: text("lines").notNull(),
    /** JSON of `{carrier, number, url}`. */
    tracking: text("tracking"),
    createdAt: text("created_at").notNull(),
  },
  (t) => [
    index("fulfillments_by_order").on(t.orderId, t.id),
    check("fulfillments_json", sql`json_valid(${t.lines}) and (${t.tracking} is null or json_valid(${t.tracking}))`),
  ],
);
