import { Type } from "@sinclair/typebox";
import { app, defineRoute, noAuth, reply, replyAfter, staff } from "../../http/route.ts";
import { IdParams } from "../../values/schema.ts";
import { cancelOrder } from "../orders/cancel.ts";
import { PaymentInput, RefundInput } from "../orders/change-model.ts";
import { dryRunQuery, Order } from "../orders/model.ts";
import { payOrder } from "../orders/payments.ts";
import { refundOrder } from "../orders/refund.ts";
import { visitors } from "../orders/routes.ts";
import { openCheckout } from "./checkout.ts";
import { receiveEvent } from "./events.ts";
import { Checkout, CheckoutInput, WebhookReceived } from "./model.ts";
import { checkPayment, closeCheckout } from "./reconcile.ts";
import { retryRefund } from "./refunds.ts";

const ofOrder = { tag: "Orders", params: IdParams, errors: ["wrongState", "unavailable"] } as const;
const page = { ...ofOrder, access: visitors, secret: true } as const;
const access = [app("orders:write"), staff] as const;
const change = { ...ofOrder, access, reply: { status: 200, data: Order }, conditional: true } as const;

export const paymentRoutes = [
  // No transaction may wait for a provider: `prepare` runs before the transaction, and `secret` routes have none.
  defineRoute("POST", "/orders/:id/checkout/", "openCheckout", {
    ...page,
    summary: "Open a payment page for an order, or get the one that is open",
    body: CheckoutInput,
    reply: { status: 200, data: Checkout },
    handle: async ({ ctx, params, body }) => reply(await openCheckout(ctx, params.id, body)),
  }),
  defineRoute("POST", "/orders/:id/checkout/check/", "checkPayment", {
    ...page,
    summary: "Read the payment of an order at the provider, at most once in five seconds for visitors",
    reply: { status: 200, data: Order },
    handle: ({ ctx, params }) => checkPayment(ctx, params.id),
  }),
  defineRoute("POST", "/orders/:id/cancel/", "cancelOrder", {
    ...change,
    summary: "Cancel a pending order",
    access: visitors,
    prepare: ({ ctx, params }) => closeCheckout(ctx, params.id),
    handle: ({ ctx, params, ifMatch }) => cancelOrder(ctx, params.id, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/pay/", "payOrder", {
    ...change,
    summary: "Book a payment of an order",
    body: PaymentInput,
    errors: ["conflict", ...change.errors],
    prepare: ({ ctx, params }) => closeCheckout(ctx, params.id),
    handle: ({ ctx, params, body, ifMatch }) => payOrder(ctx, params.id, body, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/refund/", "refundOrder", {
    ...change,
    summary: "Refund an order, or some of it",
    query: dryRunQuery(),
    body: RefundInput,
    prepare: async ({ ctx, params, query }) => {
      if (!query.dry_run) await closeCheckout(ctx, params.id);
    },
    handle: ({ ctx, params, query, body, ifMatch }) =>
      refundOrder(ctx, params.id, body, { ifMatch, isDryRun: query.dry_run ?? false }),
  }),
  defineRoute("POST", "/orders/:id/refund/:refund_id/retry/", "retryRefund", {
    ...change,
    summary: "Request a failed refund again",
    params: Type.Object({ id: Type.String(), refund_id: Type.String() }),
    handle: ({ ctx, params, ifMatch }) => retryRefund(ctx, params, ifMatch),
  }),
  defineRoute("POST", "/payments/stripe/", "receiveStripeEvent", {
    tag: "Payments",
    summary: "Receive a signed call of Stripe",
    access: [noAuth],
    upload: { types: ["application/json"], bytes: 262_144 },
    signed: "stripe-signature",
    reply: { status: 200, data: WebhookReceived },
    errors: ["notAuthenticated", "tooManyAuthAttempts", "unavailable"],
    secret: true,
    handle: ({ ctx, body }) => replyAfter(receiveEvent(ctx, body as Uint8Array), { received: true }),
  }),
];
