import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { input, line, lines, nullable, oneOf, patch, textUpTo, whole } from "../../values/schema.ts";
import { phone } from "../users/model.ts";
import { attentionKind, email, givenAmount, metadata, orderNumber, ShippingAddress } from "./model.ts";

const reference = line(200, "Id of the payment, unique in the store. Repeating it does not book the payment again.");
/** The schema of a list of lines, each with a number of pieces. */
const pieces = <More extends TProperties = Record<never, never>>(
  $id: string,
  description?: string,
  more = {} as More,
) => {
  const piece = input($id, { line_id: textUpTo(100), quantity: whole(1, 1_000_000), ...more });
  return Type.Optional(Type.Array(piece, { minItems: 1, maxItems: 100, ...(description && { description }) }));
};

export const PaymentInput = input("PaymentInput", {
  amount: givenAmount("Default: what is due."),
  reference: Type.Optional(reference),
  payment_reference: Type.Optional(Type.String({ ...reference, description: "The old name of `reference`." })),
  received_at: Type.Optional(textUpTo(40, "When the money was received: a time or a day. Default: now.")),
});
export type PaymentInput = Static<typeof PaymentInput>;

export const RefundInput = input("RefundInput", {
  lines: pieces("RefundLineInput", undefined, {
    returned: Type.Optional(
      Type.Boolean({ description: "Whether these pieces were sent and came back. Default: they were not sent." }),
    ),
  }),
  shipping: givenAmount("The part of shipping to refund, including its tax."),
  amount: givenAmount("Further amount. Without lines, shipping and amount, refunds everything not refunded yet."),
  restock: Type.Optional(Type.Boolean({ default: false, description: "Whether the refunded items return to stock." })),
  reason: Type.Optional(nullable(lines(500))),
});
export type RefundInput = Static<typeof RefundInput>;

const Tracking = input("Tracking", {
  carrier: Type.Optional(
    nullable(
      line(50, "For DHL, DPD, GLS, Hermes, UPS, FedEx, USPS, Royal Mail, La Poste and PostNL, the `url` is added."),
    ),
  ),
  number: Type.Optional(nullable(line(100))),
  url: Type.Optional(nullable(textUpTo(2000, "Address of a page that shows the parcel."))),
});
export type Tracking = Static<typeof Tracking>;

export const FulfillmentInput = input("FulfillmentInput", {
  lines: pieces("FulfillmentLineInput", "Default: all pieces that were not sent yet."),
  tracking: Type.Optional(nullable(Tracking)),
});
export type FulfillmentInput = Static<typeof FulfillmentInput>;

export const TrackingInput = input("TrackingInput", { tracking: nullable(Tracking) });
export type TrackingInput = Static<typeof TrackingInput>;

export const AttentionInput = input("AttentionInput", {
  kind: attentionKind,
  action: oneOf(["accept", "dismiss"]),
  note: Type.Optional(nullable(lines(2000))),
});
export type AttentionInput = Static<typeof AttentionInput>;

export const OrderPatch = patch("OrderPatch", {
  email: nullable(email),
  phone: nullable(phone),
  shipping_address: nullable(ShippingAddress),
  billing_address: nullable(ShippingAddress),
  note: nullable(lines(2000)),
  staff_note: nullable(lines(2000)),
  metadata,
});
export type OrderPatch = Static<typeof OrderPatch>;

export const AccessInput = input("AccessInput", { number: orderNumber, email });
export type AccessInput = Static<typeof AccessInput>;

export const WithdrawalInput = input("WithdrawalInput", {
  number: orderNumber,
  email,
  name: line(200),
  lines: pieces("WithdrawalLineInput", "Default: the whole order."),
  text: Type.Optional(nullable(lines(2000))),
});
export type WithdrawalInput = Static<typeof WithdrawalInput>;
