import { type Static, Type } from "@sinclair/typebox";
import { input, oneOf, output, textUpTo, timestamp } from "../../values/schema.ts";

const page = (description: string) => textUpTo(2000, `${description} At an origin of one of the store's keys.`);

export const CheckoutInput = input("CheckoutInput", {
  success_url: page("Where the buyer goes after the payment."),
  cancel_url: page("Where the buyer goes after leaving the payment page."),
});
export type CheckoutInput = Static<typeof CheckoutInput>;

export const Checkout = output("Checkout", {
  id: Type.String({ description: "`chk_…`" }),
  provider: oneOf(["stripe"]),
  state: oneOf(["open", "processing", "complete", "expired", "failed"]),
  url: Type.String({ description: "The provider's page, to which the buyer goes." }),
  amount: Type.Number({ minimum: 0 }),
  amount_minor: Type.Integer({ minimum: 0 }),
  currency: Type.String({ description: "ISO 4217." }),
  expires_at: timestamp,
});
export type Checkout = Static<typeof Checkout>;

export const WebhookReceived = output("WebhookReceived", { received: Type.Literal(true) });
