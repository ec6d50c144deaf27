import { Type } from "@sinclair/typebox";
import { app, defineRoute, replyFields, staff, token } from "../../http/route.ts";
import { FieldsQuery } from "../../pagination/list-query.ts";
import { IdParams } from "../../values/schema.ts";
import { createOrder, prepareOrder } from "./create.ts";
import { dryRunQuery, Order, OrderInput, OrderListQuery, PaymentInput, RefundInput } from "./model.ts";
import { refundOrder } from "./refund.ts";
import { cancelOrder, fulfillOrder, getOrder, payOrder } from "./service.ts";
import { listOrders, orderFields } from "./views.ts";

const tag = "Orders";
const read = { tag, access: [app("orders:read"), token] } as const;
const writers = [app("orders:write"), token] as const;
const change = {
  tag,
  access: [app("orders:write"), staff],
  params: IdParams,
  reply: { status: 200, data: Order },
  errors: ["wrongState"],
  conditional: true,
} as const;

export const orderRoutes = [
  defineRoute("GET", "/orders/", "listOrders", {
    ...read,
    summary: "List orders",
    query: OrderListQuery,
    reply: { data: Type.Array(Order), page: true },
    errors: ["notFound"],
    handle: ({ ctx, query, subject }) => listOrders(ctx, query, subject),
  }),
  defineRoute("GET", "/orders/:id/", "getOrder", {
    ...read,
    summary: "Get an order",
    params: IdParams,
    query: FieldsQuery,
    reply: { data: Order },
    handle: ({ ctx, params, query }) => replyFields(query.fields, orderFields, () => getOrder(ctx, params.id)),
  }),
  defineRoute("POST", "/orders/", "createOrder", {
    tag,
    summary: "Create an order",
    access: writers,
    query: dryRunQuery(" The order has no `number`. A customer has six dry runs for each order a minute."),
    body: OrderInput,
    reply: { status: 201, data: Order },
    errors: ["tooManyRequests", "notFound", "outOfStock", "notEnoughPoints"],
    prepare: ({ ctx, body, lang, subject, query }) => prepareOrder(ctx, { ...body, lang, subject }, query.dry_run),
    handle: async ({ ctx, query: { dry_run: isDryRun } }, prepared) => {
      const order = await createOrder(ctx, prepared, isDryRun);
      return isDryRun ? { ...order, status: 200 } : order;
    },
  }),
  defineRoute("POST", "/orders/:id/cancel/", "cancelOrder", {
    ...change,
    summary: "Cancel a pending order",
    access: writers,
    handle: ({ ctx, params, ifMatch }) => cancelOrder(ctx, params.id, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/pay/", "payOrder", {
    ...change,
    summary: "Mark an order as paid",
    body: PaymentInput,
    errors: ["conflict", "wrongState"],
    handle: ({ ctx, params, body, ifMatch }) => payOrder(ctx, params.id, body, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/fulfill/", "fulfillOrder", {
    ...change,
    summary: "Mark a paid order as fulfilled",
    handle: ({ ctx, params, ifMatch }) => fulfillOrder(ctx, params.id, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/refund/", "refundOrder", {
    ...change,
    summary: "Refund an order, or some of its lines",
    query: dryRunQuery(),
    body: RefundInput,
    handle: ({ ctx, params, query, body, ifMatch }) =>
      refundOrder(ctx, params.id, body, { ifMatch, isDryRun: query.dry_run ?? false }),
  }),
];
