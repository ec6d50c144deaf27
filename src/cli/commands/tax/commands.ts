import { defineRates } from "../shipping/rates.ts";

export const { setCommand, showCommand } = defineRates({
  noun: "tax",
  example: "taxes.csv",
  notes: [
    "Columns: class,country,region,rate. The rate is in percent, with up to three decimals; region must be empty. " +
      "Classes are standard, reduced, zero and names of the store's own; products have one (default: standard).",
    "Later orders are taxed by the country of their address; without an address, by the store's country.",
  ],
  replace: async (ctx, csv) => (await import("../../../server/modules/taxes/csv.ts")).importTaxRates(ctx, csv),
  list: async (ctx) => (await import("../../../server/modules/taxes/service.ts")).listTaxRates(ctx),
  view: () => ({
    columns: ["country", "class", { header: "RATE", value: ({ rate }) => `${rate} %` }],
    id: ({ country, class: name }) => `${country}:${name}`,
  }),
  without: "orders have no tax",
});
