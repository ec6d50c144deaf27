import { type Static, Type } from "@sinclair/typebox";
import { idsPart, listParts, sortPart, timeRangeParts } from "../../pagination/list-query.ts";
import {
  closed,
  input,
  line,
  lines,
  nullable,
  oneOf,
  output,
  textUpTo,
  timestamp,
  whole,
} from "../../values/schema.ts";
import { Address } from "../users/model.ts";

const status = oneOf(["pending", "paid", "completed", "cancelled", "expired"], {
  description: "pending → paid → completed; pending → cancelled or expired; paid → cancelled by a full refund.",
});
export const expiryMs = 60 * 60_000;

const paymentStatus = oneOf(["unpaid", "paid", "partially_refunded", "refunded"]);

const ShippingAddress = Type.Omit(Address, ["is_default"], { $id: "ShippingAddress", additionalProperties: false });

const OrderItem = input("OrderItem", {
  product_id: Type.Optional(textUpTo(100, "Id of a product without variants.")),
  variant_id: Type.Optional(textUpTo(100, "Id of a variant. Products with variants are ordered by variant.")),
  quantity: whole(1, 1_000_000),
});

export const OrderInput = input("OrderInput", {
  items: Type.Array(OrderItem, { minItems: 1, maxItems: 100 }),
  shipping_address: Type.Optional(nullable(ShippingAddress)),
  note: Type.Optional(nullable(lines(2000))),
  use_points: Type.Optional(whole(0, Number.MAX_SAFE_INTEGER, "Reward points to pay with.")),
  shipping: Type.Optional(Type.Number({ minimum: 0, description: "Shipping costs. App keys and staff only." })),
  tax: Type.Optional(Type.Number({ minimum: 0, description: "Divided among the lines. App keys and staff only." })),
  customer_id: Type.Optional(textUpTo(100, "Id of the customer, for app keys and staff. Default: a guest.")),
  guest_ip: Type.Optional(
    textUpTo(45, "IP address of the guest, to which the limits of unpaid orders apply. For app keys of backends."),
  ),
});
export type OrderInput = Static<typeof OrderInput>;

export const PaymentInput = input("PaymentInput", {
  payment_reference: Type.Optional(
    line(200, "Id of the payment, unique in the store. Repeating it does not book the payment again."),
  ),
});
export type PaymentInput = Static<typeof PaymentInput>;

export const RefundInput = input("RefundInput", {
  lines: Type.Optional(
    Type.Array(input("RefundLineInput", { line_id: textUpTo(100), quantity: whole(1, 1_000_000) }), {
      minItems: 1,
      maxItems: 100,
      description: "Default: everything that is not refunded yet, with shipping.",
    }),
  ),
  restock: Type.Optional(Type.Boolean({ default: false, description: "Whether the refunded items return to stock." })),
  reason: Type.Optional(nullable(lines(500))),
});
export type RefundInput = Static<typeof RefundInput>;

const amount = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
function amounts<const Name extends string>(...names: Name[]) {
  const pairs = names.flatMap((name) => [[name, amount] as const, [`${name}_minor`, count] as const]);
  return Object.fromEntries(pairs) as Record<Name, typeof amount> & Record<`${Name}_minor`, typeof count>;
}
const id = (description: string) => Type.String({ description });

export const OrderLine = output("OrderLine", {
  id: id("`line_…`"),
  product_id: id("`prod_…`"),
  variant_id: nullable(id("`var_…`")),
  title: Type.String({
    description: "Title in the order's language. Lines keep the product's data from the time of the order.",
  }),
  variant_title: nullable(Type.String()),
  sku: nullable(Type.String()),
  options: Type.Record(Type.String(), Type.String()),
  image: nullable(Type.String()),
  ...amounts("price"),
  quantity: Type.Integer({ minimum: 1 }),
  ...amounts("subtotal", "discount", "tax", "total"),
  refunded_quantity: count,
  ...amounts("refunded"),
  restocked_quantity: count,
});

export const OrderRefund = output("OrderRefund", {
  id: id("`ref_…`"),
  ...amounts("amount"),
  lines: Type.Array(
    output("RefundLine", { line_id: id("`line_…`"), quantity: count, ...amounts("amount"), restock: Type.Boolean() }),
  ),
  reason: nullable(Type.String()),
  points_returned: count,
  points_reversed: count,
  created_at: timestamp,
});

export const Order = output("Order", {
  id: id("`ord_…`; sorts by creation time."),
  number: nullable(Type.Integer({ minimum: 1, description: "Number in the store, without gaps; null for a dry run." })),
  user_id: nullable(id("`usr_…`; null for a guest.")),
  status,
  payment_status: paymentStatus,
  fulfillment_status: oneOf(["unfulfilled", "fulfilled"]),
  currency: Type.String({ description: "ISO 4217." }),
  items: Type.Array(OrderLine),
  ...amounts("subtotal", "discount", "shipping", "tax"),
  total: Type.Number({ minimum: 0, description: "subtotal − discount + shipping + tax." }),
  total_minor: count,
  ...amounts("refunded"),
  points_used: count,
  points_earned: count,
  points_returned: Type.Integer({ minimum: 0, description: "Used points that were returned to the customer." }),
  points_reversed: Type.Integer({ minimum: 0, description: "Earned points that refunds reversed." }),
  payment_reference: nullable(Type.String()),
  shipping_address: nullable(ShippingAddress),
  note: nullable(Type.String()),
  lang: Type.String({ description: "Language of the titles of the lines." }),
  refunds: Type.Array(OrderRefund),
  version: Type.Integer({ minimum: 1, description: "Increases by one with every write; sent as `ETag`." }),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: Type.String({ format: "date-time", description: "Time at which the order expires unless it is paid." }),
  paid_at: nullable(timestamp),
  fulfilled_at: nullable(timestamp),
  cancelled_at: nullable(timestamp),
});

export const dryRunQuery = (limits = "") =>
  closed({
    dry_run: Type.Optional(
      Type.Boolean({ description: `Replies with the result and 200, but saves nothing.${limits}` }),
    ),
  });

export const OrderListQuery = closed({
  ...listParts,
  ...idsPart,
  ...sortPart(["created_at", "updated_at", "number"]),
  status: Type.Optional(status),
  payment_status: Type.Optional(paymentStatus),
  number: Type.Optional(whole(1, Number.MAX_SAFE_INTEGER)),
  customer_id: Type.Optional(textUpTo(100, "Only this customer's orders. App keys can send `user_id` instead.")),
  ...timeRangeParts("created_at"),
  ...timeRangeParts("updated_at"),
});
export type OrderListQuery = Static<typeof OrderListQuery>;
