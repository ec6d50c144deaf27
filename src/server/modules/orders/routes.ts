import { Type } from "@sinclair/typebox";
import { app, staff, token } from "../../http/access.ts";
import { defineRoute } from "../../http/route.ts";
import { createOrder } from "./create.ts";
import { listOrders } from "./list.ts";
import {
  DryRunQuery,
  Order,
  OrderInput,
  OrderListQuery,
  OrderParams,
  OrderQuery,
  PaymentInput,
  RefundInput,
} from "./model.ts";
import { refundOrder } from "./refund.ts";
import { cancelOrder, fulfillOrder, getOrder, payOrder } from "./service.ts";

const tag = "Orders";
const readers = [app("orders:read"), token] as const;
const writers = [app("orders:write"), token] as const;
const storeWriters = [app("orders:write"), staff] as const;

/** The order endpoints. */
export const orderRoutes = [
  defineRoute("GET", "/orders/", "listOrders", {
    tag,
    summary: "List orders",
    access: readers,
    query: OrderListQuery,
    reply: { data: Type.Array(Order), page: true },
    errors: ["malformedRequest", "notFound"],
    handle: ({ ctx, query, subject }) => listOrders(ctx, query, subject),
  }),
  defineRoute("GET", "/orders/:id/", "getOrder", {
    tag,
    summary: "Get an order",
    access: readers,
    params: OrderParams,
    query: OrderQuery,
    reply: { data: Order },
    errors: ["notFound"],
    handle: ({ ctx, params, query }) => getOrder(ctx, params.id, query.fields),
  }),
  defineRoute("POST", "/orders/", "createOrder", {
    tag,
    summary: "Create an order",
    access: writers,
    query: DryRunQuery,
    body: OrderInput,
    reply: { status: 201, data: Order },
    errors: ["notFound", "outOfStock", "notEnoughPoints"],
    handle: async ({ ctx, query, body, lang, subject }) => {
      const isDryRun = query.dry_run ?? false;
      const order = await createOrder(ctx, { ...body, lang, subject }, isDryRun);
      return isDryRun ? { ...order, status: 200 } : order;
    },
  }),
  defineRoute("POST", "/orders/:id/cancel/", "cancelOrder", {
    tag,
    summary: "Cancel a pending order",
    access: writers,
    params: OrderParams,
    reply: { status: 200, data: Order },
    errors: ["notFound", "wrongState"],
    conditional: true,
    handle: ({ ctx, params, ifMatch }) => cancelOrder(ctx, params.id, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/pay/", "payOrder", {
    tag,
    summary: "Mark an order as paid",
    access: storeWriters,
    params: OrderParams,
    body: PaymentInput,
    reply: { status: 200, data: Order },
    errors: ["notFound", "conflict", "wrongState"],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch }) => payOrder(ctx, params.id, body, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/fulfill/", "fulfillOrder", {
    tag,
    summary: "Mark a paid order as fulfilled",
    access: storeWriters,
    params: OrderParams,
    reply: { status: 200, data: Order },
    errors: ["notFound", "wrongState"],
    conditional: true,
    handle: ({ ctx, params, ifMatch }) => fulfillOrder(ctx, params.id, ifMatch),
  }),
  defineRoute("POST", "/orders/:id/refund/", "refundOrder", {
    tag,
    summary: "Refund an order, or some of its lines",
    access: storeWriters,
    params: OrderParams,
    query: DryRunQuery,
    body: RefundInput,
    reply: { status: 200, data: Order },
    errors: ["notFound", "wrongState"],
    conditional: true,
    handle: ({ ctx, params, query, body, ifMatch }) =>
      refundOrder(ctx, params.id, body, { ifMatch, isDryRun: query.dry_run ?? false }),
  }),
];
