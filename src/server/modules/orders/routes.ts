import { Type } from "@sinclair/typebox";
import { app, defineRoute, replyAfter, staff, token } from "../../http/route.ts";
import { Accepted, IdParams } from "../../values/schema.ts";
import { countRefusedCode } from "../discounts/use.ts";
import { resolveAttention } from "./attention/attention.ts";
import {
  AccessInput,
  AttentionInput,
  FulfillmentInput,
  OrderPatch,
  TrackingInput,
  WithdrawalInput,
} from "./change-model.ts";
import { correctOrder } from "./correct.ts";
import { createOrder, prepareOrder } from "./create.ts";
import { createFulfillment, deleteFulfillment, updateFulfillment } from "./fulfillments/fulfillments.ts";
import { withAccessToken } from "./guests/access-token.ts";
import { listOrders } from "./list.ts";
import { dryRunQuery, Order, OrderInput, OrderListQuery, Withdrawal, WithdrawalListQuery } from "./model.ts";
import { getOrder } from "./read.ts";
import { listWithdrawals, mailOrderLink, recordWithdrawal } from "./withdrawals/withdraw.ts";

const tag = "Orders";
const read = { tag, access: [app("orders:read"), token] } as const;
/** Who may place, pay and cancel orders: every caller, but visitors and customers only their own orders. */
export const visitors = [app("orders:write"), app("orders:place"), token] as const;
const change = {
  tag,
  access: [app("orders:write"), staff],
  params: IdParams,
  reply: { status: 200, data: Order },
  errors: ["wrongState"],
  conditional: true,
} as const;
const FulfillmentParams = Type.Object({ id: Type.String(), fulfillment_id: Type.String() });
const page = { tag, access: [app("orders:place")], reply: { status: 200, data: Accepted } } as const;

export const orderRoutes = [
  defineRoute("GET", "/orders/", "listOrders", {
    ...read,
    summary: "List orders",
    query: OrderListQuery,
    reply: { data: Type.Array(Order), page: true },
    errors: ["notFound"],
    handle: ({ ctx, query, subject }) => listOrders(ctx, query, subject),
  }),
  defineRoute("GET", "/orders/withdrawals/", "listWithdrawals", {
    tag,
    access: [app("orders:read"), staff],
    summary: "List the consumers' withdrawals from contracts",
    query: WithdrawalListQuery,
    reply: { data: Type.Array(Withdrawal), page: true },
    handle: ({ ctx, query }) => listWithdrawals(ctx, query),
  }),
  defineRoute("GET", "/orders/:id/", "getOrder", {
    tag,
    access: [app("orders:read"), app("orders:place"), token],
    summary: "Get an order; guests send its `X-Order-Token`",
    params: IdParams,
    reply: { data: Order },
    handle: ({ ctx, params }) => getOrder(ctx, params.id),
  }),
  defineRoute("POST", "/orders/", "createOrder", {
    tag,
    summary: "Create an order",
    access: visitors,
    query: dryRunQuery(" The order has no `number`. A customer has six dry runs for each order a minute."),
    body: OrderInput,
    reply: { status: 201, data: Order },
    errors: [
      "tooManyRequests",
      "notFound",
      "conflict",
      "outOfStock",
      "notEnoughPoints",
      "notDelivered",
      "discountRefused",
    ],
    prepare: ({ ctx, body, lang, subject, query }) => prepareOrder(ctx, { ...body, lang, subject }, query.dry_run),
    handle: async ({ ctx, query: { dry_run: isDryRun } }, prepared) => {
      const order = await createOrder(ctx, prepared, isDryRun);
      return isDryRun ? { ...order, status: 200 } : order;
    },
    onError: countRefusedCode,
    complete: (ctx, json) => withAccessToken(ctx, json),
  }),
  defineRoute("PATCH", "/orders/:id/", "correctOrder", {
    ...change,
    summary: "Correct contact, addresses and notes of an order",
    body: OrderPatch,
    handle: ({ ctx, params, body, ifMatch }) => correctOrder(ctx, params.id, body, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/fulfill/", "fulfillOrder", {
    ...change,
    summary: "Mark the rest of a paid order as sent",
    handle: ({ ctx, params, ifMatch }) => createFulfillment(ctx, params.id, {}, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/fulfillments/", "createFulfillment", {
    ...change,
    summary: "Record a parcel of a paid order",
    body: FulfillmentInput,
    reply: { status: 201, data: Order },
    handle: ({ ctx, params, body, ifMatch }) => createFulfillment(ctx, params.id, body, ifMatch),
  }),
  defineRoute("PATCH", "/orders/:id/fulfillments/:fulfillment_id/", "updateFulfillment", {
    ...change,
    summary: "Change the tracking of a parcel",
    params: FulfillmentParams,
    body: TrackingInput,
    handle: ({ ctx, params, body, ifMatch }) => updateFulfillment(ctx, params, body, ifMatch),
  }),
  defineRoute("DELETE", "/orders/:id/fulfillments/:fulfillment_id/", "deleteFulfillment", {
    ...change,
    summary: "Delete a parcel that was recorded within a day",
    params: FulfillmentParams,
    handle: ({ ctx, params, ifMatch }) => deleteFulfillment(ctx, params, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/attention/", "resolveAttention", {
    ...change,
    summary: "Record what was decided about an order",
    body: AttentionInput,
    handle: ({ ctx, params, body, ifMatch }) => resolveAttention(ctx, params.id, body, ifMatch),
  }),
  defineRoute("POST", "/orders/access/", "mailOrderLink", {
    ...page,
    summary: "Mail a guest a new link to an order; the reply does not tell whether the order exists",
    body: AccessInput,
    secret: true,
    handle: ({ ctx, body }) => replyAfter(mailOrderLink(ctx, body), { accepted: true }),
  }),
  defineRoute("POST", "/orders/withdrawals/", "recordWithdrawal", {
    ...page,
    summary: "Record that a consumer withdraws from a contract; the reply does not tell whether the order exists",
    body: WithdrawalInput,
    errors: ["tooManyRequests"],
    handle: ({ ctx, body, lang }) => replyAfter(recordWithdrawal(ctx, { ...body, lang }), { accepted: true }),
  }),
];
