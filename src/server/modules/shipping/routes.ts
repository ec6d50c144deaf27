import { Type } from "@sinclair/typebox";
import { anyKey, app, defineRoute, reply, staff, token } from "../../http/route.ts";
import { ShippingOffer, ShippingQuery, ShippingRate, ShippingRates } from "./model.ts";
import { listOffers, listShippingRates, replaceShippingRates } from "./service.ts";

const tag = "Settings";

export const shippingRoutes = [
  defineRoute("GET", "/shipping/rates/", "listShippingRates", {
    tag,
    summary: "List the shipping rates of the store, or those that apply to an address and goods",
    access: [anyKey, token],
    query: ShippingQuery,
    reply: { data: Type.Array(Type.Union([ShippingOffer, ShippingRate])) },
    handle: async ({ ctx, query, lang }) =>
      reply(query.country === undefined ? await listShippingRates(ctx) : await listOffers(ctx, query, lang)),
  }),
  defineRoute("PUT", "/shipping/rates/", "replaceShippingRates", {
    tag,
    summary: "Replace the shipping rates of the store",
    access: [app("settings:write"), staff],
    body: ShippingRates,
    reply: { data: Type.Array(ShippingRate) },
    handle: async ({ ctx, body }) => reply(await replaceShippingRates(ctx, body.rates)),
  }),
];
