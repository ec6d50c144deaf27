import { type Static, Type } from "@sinclair/typebox";
import { fieldsPart, idsPart, listParts, timeRangeParts } from "../../pagination/list-query.ts";
import { nullable, timestamp } from "../../values/schema.ts";
import { Address } from "../users/model.ts";

const status = Type.Union(
  ["pending", "paid", "completed", "cancelled", "expired"].map((value) => Type.Literal(value)),
  { description: "pending → paid → completed; pending → cancelled or expired; paid → cancelled by a full refund." },
);
const paymentStatus = Type.Union(
  ["unpaid", "paid", "partially_refunded", "refunded"].map((value) => Type.Literal(value)),
);

const ShippingAddress = Type.Omit(Address, ["is_default"], { additionalProperties: false });
export type ShippingAddress = Static<typeof ShippingAddress>;

const OrderItem = Type.Object(
  {
    product_id: Type.Optional(Type.String({ maxLength: 100, description: "A product that has no variants." })),
    variant_id: Type.Optional(Type.String({ maxLength: 100, description: "A variant of a product that has some." })),
    quantity: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  },
  { additionalProperties: false },
);

/** What makes an order. Its language is the common parameter `lang`. */
export const OrderInput = Type.Object(
  {
    items: Type.Array(OrderItem, { minItems: 1, maxItems: 100 }),
    shipping_address: Type.Optional(nullable(ShippingAddress)),
    note: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 2000 }))),
    use_points: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Points to pay with." }),
    ),
    shipping: Type.Optional(Type.Number({ minimum: 0, description: "What shipping costs; app keys and staff only." })),
    tax: Type.Optional(Type.Number({ minimum: 0, description: "Split over the lines; app keys and staff only." })),
    customer_id: Type.Optional(
      Type.String({ maxLength: 100, description: "Whose order it is, for app keys and staff; without it a guest's." }),
    ),
  },
  { $id: "OrderInput", additionalProperties: false },
);
export type OrderInput = Static<typeof OrderInput>;

/** What pays an order. */
export const PaymentInput = Type.Object(
  {
    payment_reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "The payment's own number, unique in the store; the same one again is answered, not booked again.",
      }),
    ),
  },
  { $id: "PaymentInput", additionalProperties: false },
);
export type PaymentInput = Static<typeof PaymentInput>;

/** What gives money back: all that is left, or pieces of lines. */
export const RefundInput = Type.Object(
  {
    lines: Type.Optional(
      Type.Array(
        Type.Object(
          {
            line_id: Type.String({ maxLength: 100 }),
            quantity: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 100, description: "Without it, all that is left, with shipping." },
      ),
    ),
    restock: Type.Optional(Type.Boolean({ default: false, description: "Whether the pieces can be sold again." })),
    reason: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  },
  { $id: "RefundInput", additionalProperties: false },
);
export type RefundInput = Static<typeof RefundInput>;

const amount = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
const id = (description: string) => Type.String({ description });

const OrderLine = Type.Object({
  id: id("`line_…`"),
  product_id: id("`prod_…`"),
  variant_id: nullable(id("`var_…`")),
  title: Type.String({ description: "In the order's language, as it was when it was ordered; so all of the line." }),
  variant_title: nullable(Type.String()),
  sku: nullable(Type.String()),
  options: Type.Record(Type.String(), Type.String()),
  image: nullable(Type.String()),
  price: amount,
  price_minor: count,
  quantity: Type.Integer({ minimum: 1 }),
  subtotal: amount,
  subtotal_minor: count,
  discount: amount,
  discount_minor: count,
  tax: amount,
  tax_minor: count,
  total: amount,
  total_minor: count,
  refunded_quantity: count,
  refunded: amount,
  refunded_minor: count,
  restocked_quantity: count,
});

const OrderRefund = Type.Object({
  id: id("`ref_…`"),
  amount,
  amount_minor: count,
  lines: Type.Array(
    Type.Object({
      line_id: id("`line_…`"),
      quantity: count,
      amount,
      amount_minor: count,
      restock: Type.Boolean(),
    }),
  ),
  reason: nullable(Type.String()),
  points_returned: count,
  points_reversed: count,
  created_at: timestamp,
});

/** An order as every reply shows it. */
export const Order = Type.Object(
  {
    id: id("`ord_…`, sorts by age."),
    number: Type.Integer({ minimum: 1, description: "Counts the store's orders without a gap." }),
    user_id: nullable(id("`usr_…`; null for a guest.")),
    status,
    payment_status: paymentStatus,
    fulfillment_status: Type.Union([Type.Literal("unfulfilled"), Type.Literal("fulfilled")]),
    currency: Type.String({ description: "ISO 4217." }),
    items: Type.Array(OrderLine),
    subtotal: amount,
    subtotal_minor: count,
    discount: amount,
    discount_minor: count,
    shipping: amount,
    shipping_minor: count,
    tax: amount,
    tax_minor: count,
    total: Type.Number({ minimum: 0, description: "subtotal − discount + shipping + tax." }),
    total_minor: count,
    refunded: amount,
    refunded_minor: count,
    points_used: count,
    points_earned: count,
    points_returned: Type.Integer({ minimum: 0, description: "Of the points used, how many came back." }),
    points_reversed: Type.Integer({ minimum: 0, description: "Of the points earned, how many were taken back." }),
    payment_reference: nullable(Type.String()),
    shipping_address: nullable(ShippingAddress),
    note: nullable(Type.String()),
    lang: Type.String({ description: "Language of the lines' texts." }),
    refunds: Type.Array(OrderRefund),
    version: Type.Integer({ minimum: 1, description: "Moves by one with every write; sent as `ETag`." }),
    created_at: timestamp,
    updated_at: timestamp,
    expires_at: Type.String({ format: "date-time", description: "When it expires unless it is paid before." }),
    paid_at: nullable(timestamp),
    fulfilled_at: nullable(timestamp),
    cancelled_at: nullable(timestamp),
  },
  { $id: "Order" },
);

/** The id as it stands in the path; one that no order can have is answered as unknown (notFound). */
export const OrderParams = Type.Object({ id: Type.String() });

/** `?dry_run=true`: everything happens and is undone, and the answer says what it would have been. */
export const DryRunQuery = Type.Object(
  { dry_run: Type.Optional(Type.Boolean({ description: "Tries it for real, answers 200, and undoes all of it." })) },
  { additionalProperties: false },
);

/** Keys that a list of orders can be sorted by; a hyphen before it turns it round. */
export const orderSortKeys = ["created_at", "updated_at", "number"] as const;
export type OrderSortKey = (typeof orderSortKeys)[number];

export const OrderListQuery = Type.Object(
  {
    ...listParts,
    ...idsPart,
    sort: Type.Optional(
      Type.Union(
        orderSortKeys.flatMap((key) => [Type.Literal(key), Type.Literal(`-${key}` as const)]),
        { default: "-created_at" },
      ),
    ),
    status: Type.Optional(status),
    payment_status: Type.Optional(paymentStatus),
    number: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    customer_id: Type.Optional(Type.String({ maxLength: 100, description: "Whose; for app keys `user_id` as well." })),
    ...timeRangeParts("created_at"),
    ...timeRangeParts("updated_at"),
  },
  { additionalProperties: false },
);
export type OrderListQuery = Static<typeof OrderListQuery>;

/** What one order can be read in part by. */
export const OrderQuery = Type.Object(fieldsPart, { additionalProperties: false });
