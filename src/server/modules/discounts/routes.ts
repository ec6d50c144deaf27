import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, staff } from "../../http/route.ts";
import { IdParams } from "../../values/schema.ts";
import { Discount, DiscountInput, DiscountListQuery } from "./model.ts";
import { createDiscount, endDiscountNow, getDiscount, listDiscounts } from "./service.ts";

const shared = { tag: "Settings", access: [app("settings:write"), staff] } as const;

export const discountRoutes = [
  defineRoute("GET", "/discounts/", "listDiscounts", {
    ...shared,
    summary: "List discount codes",
    query: DiscountListQuery,
    reply: { data: Type.Array(Discount), page: true },
    handle: ({ ctx, query }) => listDiscounts(ctx, query),
  }),
  defineRoute("POST", "/discounts/", "createDiscount", {
    ...shared,
    summary: "Create a discount code",
    body: DiscountInput,
    reply: { status: 201, data: Discount },
    errors: ["conflict"],
    handle: async ({ ctx, body }) => reply(await createDiscount(ctx, body)),
  }),
  defineRoute("GET", "/discounts/:id/", "getDiscount", {
    ...shared,
    summary: "Get a discount code",
    params: IdParams,
    reply: { data: Discount },
    handle: async ({ ctx, params }) => reply(await getDiscount(ctx, params.id)),
  }),
  defineRoute("POST", "/discounts/:id/end/", "endDiscount", {
    ...shared,
    summary: "End a discount code now",
    params: IdParams,
    reply: { status: 200, data: Discount },
    handle: async ({ ctx, params }) => reply(await endDiscountNow(ctx, params.id)),
  }),
];
