import { app, defineRoute, reply, staff } from "../../http/route.ts";
import { TaxRates } from "./model.ts";
import { listTaxRates, replaceTaxRates } from "./service.ts";

const shared = { tag: "Settings", access: [app("settings:write"), staff], reply: { data: TaxRates } } as const;

export const taxRoutes = [
  defineRoute("GET", "/taxes/rates/", "listTaxRates", {
    ...shared,
    summary: "List the tax rates of the store",
    handle: async ({ ctx }) => reply({ rates: await listTaxRates(ctx) }),
  }),
  defineRoute("PUT", "/taxes/rates/", "replaceTaxRates", {
    ...shared,
    summary: "Replace the tax rates of the store",
    body: TaxRates,
    handle: async ({ ctx, body }) => reply({ rates: await replaceTaxRates(ctx, body.rates) }),
  }),
];
