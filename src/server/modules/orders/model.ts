import { type Static, Type } from "@sinclair/typebox";
import { idsPart, listParts, sortPart, timeRangeParts } from "../../pagination/list-query.ts";
import { closed, input, lines, nullable, oneOf, output, textUpTo, timestamp, whole } from "../../values/schema.ts";
import { ShippingOffer } from "../shipping/model.ts";
import { Address, phone } from "../users/model.ts";
import { attentionKinds, fulfillmentStatuses, orderStatuses, paymentStatuses } from "./states.ts";

const status = oneOf(orderStatuses, {
  description: "pending → paid → completed; pending → cancelled or expired; paid → cancelled by a full refund.",
});
const paymentStatus = oneOf(paymentStatuses);
export const orderNumber = whole(1, Number.MAX_SAFE_INTEGER);
export const attentionKind = oneOf(attentionKinds);

export const ShippingAddress = Type.Omit(Address, ["is_default"], {
  $id: "ShippingAddress",
  additionalProperties: false,
});
export const email = textUpTo(254, undefined, { form: { format: "email" } });
export const metadata = Type.Record(textUpTo(100), Type.Unknown(), {
  description: "Any JSON object of at most 16 KiB.",
});
export const givenAmount = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
const paymentMethod = oneOf(["manual", "stripe"], {
  description: "`manual` is a bank transfer. The order then reserves stock longer.",
});

const OrderItem = input("OrderItem", {
  product_id: Type.Optional(textUpTo(100, "Id of a product without variants.")),
  variant_id: Type.Optional(textUpTo(100, "Id of a variant. Products with variants are ordered by variant.")),
  quantity: whole(1, 1_000_000),
});

export const OrderInput = input("OrderInput", {
  items: Type.Array(OrderItem, { minItems: 1, maxItems: 100 }),
  email: Type.Optional(
    nullable(Type.String({ ...email, description: "Web pages must send it for guests. Default: the customer's." })),
  ),
  phone: Type.Optional(nullable(phone)),
  shipping_address: Type.Optional(nullable(ShippingAddress)),
  billing_address: Type.Optional(nullable(ShippingAddress)),
  note: Type.Optional(nullable(lines(2000))),
  metadata: Type.Optional(metadata),
  shipping_rate: Type.Optional(
    nullable(textUpTo(100, "Id of a rate that applies. Required if goods are shipped and the store has rates.")),
  ),
  discount_code: Type.Optional(nullable(textUpTo(100))),
  payment_method: Type.Optional(nullable(paymentMethod)),
  expected_total: givenAmount("The total that the buyer saw. If it differs, nothing is ordered."),
  expires_in: Type.Optional(
    whole(60, 2_592_000, "Seconds for which the unpaid order reserves stock. App keys and staff only."),
  ),
  use_points: Type.Optional(whole(0, Number.MAX_SAFE_INTEGER, "Reward points to pay with.")),
  shipping: givenAmount("Shipping costs. App keys and staff only."),
  tax: givenAmount("Divided among the lines. App keys and staff only."),
  customer_id: Type.Optional(textUpTo(100, "Id of the customer, for app keys and staff. Default: a guest.")),
  guest_ip: Type.Optional(
    textUpTo(45, "IP address of the guest, for limits of orders and of discount codes. For app keys of backends."),
  ),
});
export type OrderInput = Static<typeof OrderInput>;

const amount = Type.Number({ minimum: 0 });
export const count = Type.Integer({ minimum: 0 });
/** The schemas of amounts, each with the amount in minor units as `<name>_minor`. */
export function amounts<const Name extends string>(...names: Name[]) {
  const pairs = names.flatMap((name) => [[name, amount] as const, [`${name}_minor`, count] as const]);
  return Object.fromEntries(pairs) as Record<Name, typeof amount> & Record<`${Name}_minor`, typeof count>;
}
const id = (description: string) => Type.String({ description });

const OrderLine = output("OrderLine", {
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
  tax_class: Type.String(),
  requires_shipping: Type.Boolean(),
  weight_g: nullable(count),
  fulfilled_quantity: count,
  cancelled_quantity: Type.Integer({ minimum: 0, description: "Pieces that were refunded before they were sent." }),
  refunded_quantity: count,
  ...amounts("refunded"),
  restocked_quantity: count,
});

const OrderPayment = output("OrderPayment", {
  id: id("`pay_…`"),
  provider: oneOf(["manual", "stripe"]),
  reference: nullable(Type.String()),
  ...amounts("amount"),
  received_at: timestamp,
});

const LinePieces = output("LinePieces", { line_id: id("`line_…`"), quantity: count });

const Fulfillment = output("Fulfillment", {
  id: id("`ful_…`"),
  lines: Type.Array(LinePieces),
  tracking: nullable(
    output("FulfillmentTracking", {
      carrier: nullable(Type.String()),
      number: nullable(Type.String()),
      url: nullable(Type.String()),
    }),
  ),
  created_at: timestamp,
});

const OrderRefund = output("OrderRefund", {
  id: id("`ref_…`"),
  state: oneOf(["requested", "pending", "succeeded", "failed"]),
  ...amounts("amount", "shipping"),
  lines: Type.Array(
    output("RefundLine", { line_id: id("`line_…`"), quantity: count, ...amounts("amount"), restock: Type.Boolean() }),
  ),
  reason: nullable(Type.String()),
  points_returned: count,
  points_reversed: count,
  error: Type.Optional(nullable(Type.String({ description: "Why it failed. Staff and keys of backends only." }))),
  created_at: timestamp,
});

const Dispute = output("Dispute", {
  id: id("The provider's."),
  status: Type.String({ description: "The provider's: `warning_…`, `needs_response`, `under_review`, `lost`, `won`." }),
  ...amounts("amount"),
  reason: Type.String(),
  due_at: nullable(timestamp),
  created_at: timestamp,
});

export const Withdrawal = output("Withdrawal", {
  id: id("`wdr_…`"),
  order_id: nullable(id("`ord_…`; null if no order has both the number and the email.")),
  number: orderNumber,
  ...{ email: Type.String(), name: Type.String() },
  lines: nullable(Type.Array(LinePieces, { description: "Null for the whole order." })),
  text: nullable(Type.String()),
  created_at: timestamp,
});
export type Withdrawal = Static<typeof Withdrawal>;

export const Order = output("Order", {
  id: id("`ord_…`; sorts by creation time."),
  number: nullable(Type.Integer({ minimum: 1, description: "Number in the store, without gaps; null for a dry run." })),
  user_id: nullable(id("`usr_…`; null for a guest.")),
  status,
  payment_status: paymentStatus,
  fulfillment_status: oneOf(fulfillmentStatuses),
  currency: Type.String({ description: "ISO 4217." }),
  items: Type.Array(OrderLine),
  ...amounts("subtotal", "discount", "shipping", "shipping_tax", "tax"),
  total: Type.Number({
    minimum: 0,
    description: "subtotal − discount + shipping, and + tax unless prices include it.",
  }),
  total_minor: count,
  ...amounts("received", "refunded", "returned", "due"),
  prices_include_tax: Type.Boolean(),
  tax_lines: Type.Array(
    output("TaxLine", {
      class: Type.String(),
      rate: Type.Number({ description: "In percent." }),
      ...amounts("base", "tax"),
    }),
  ),
  shipping_rate: nullable(output("OrderShippingRate", { id: Type.String(), name: Type.String() })),
  discount_code: nullable(Type.String()),
  points_used: count,
  points_earned: count,
  points_returned: Type.Integer({ minimum: 0, description: "Used points that were returned to the customer." }),
  points_reversed: Type.Integer({ minimum: 0, description: "Earned points that refunds took back." }),
  payment_method: nullable(paymentMethod),
  transfer_reference: nullable(
    Type.String({
      description: "The reference that the buyer puts on a bank transfer (`RF…`, ISO 11649); null for other methods.",
    }),
  ),
  payment_reference: nullable(Type.String({ description: "The reference of the first payment." })),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  shipping_address: nullable(ShippingAddress),
  billing_address: nullable(ShippingAddress),
  note: nullable(Type.String()),
  staff_note: Type.Optional(nullable(Type.String({ description: "Staff and keys of backends only." }))),
  needs_attention: Type.Optional(Type.Array(attentionKind, { description: "Staff and keys of backends only." })),
  disputes: Type.Optional(Type.Array(Dispute, { description: "Staff and keys of backends only." })),
  withdrawals: Type.Optional(Type.Array(Withdrawal, { description: "Staff and keys of backends only." })),
  metadata,
  lang: Type.String({ description: "Language of the titles of the lines." }),
  payments: Type.Array(OrderPayment),
  refunds: Type.Array(OrderRefund),
  fulfillments: Type.Array(Fulfillment),
  shipping_rates: Type.Optional(
    Type.Array(ShippingOffer, { description: "The rates that apply, in a dry run without `shipping_rate`." }),
  ),
  access_token: Type.Optional(
    Type.String({
      description: "Only in the reply to a guest's new order. Send it as `X-Order-Token` to read the order.",
    }),
  ),
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
  number: Type.Optional(orderNumber),
  attention: Type.Optional(oneOf(["any", ...attentionKinds], { description: "Only orders that need attention." })),
  email: Type.Optional(textUpTo(254, "Only orders with this email, ignoring case.")),
  q: Type.Optional(
    textUpTo(100, "A number or transfer reference, the beginning of an email or name, or part of an addressee."),
  ),
  customer_id: Type.Optional(textUpTo(100, "Only this customer's orders. App keys can send `user_id` instead.")),
  ...timeRangeParts("created_at"),
  ...timeRangeParts("updated_at"),
});
export type OrderListQuery = Static<typeof OrderListQuery>;

export const WithdrawalListQuery = closed({
  ...listParts,
  matched: Type.Optional(Type.Boolean({ description: "Whether an order has both the number and the email." })),
});
export type WithdrawalListQuery = Static<typeof WithdrawalListQuery>;
