import { defineRates } from "../shipping/rates.ts";

export const { setCommand, showCommand } = defineRates({
  noun: "tax",
  example: "taxes.csv",
  notes: [
    "Columns: class,country,region,rate. The rate is in percent, with up to three decimals; region must be empty. " +
      "A class is standard, reduced, zero or any other name; each product has a class (default: standard).",
    "The rates apply to later orders. An order has the rates of the country in its address; without an address, those of the store's country.",
  ],
  replace: async (ctx, csv) => (await import("../../../server/modules/taxes/csv.ts")).importTaxRates(ctx, csv),
  list: async (ctx) => (await import("../../../server/modules/taxes/service.ts")).listTaxRates(ctx),
  view: () => ({
    columns: ["country", "class", { header: "RATE", value: ({ rate }) => `${rate} %` }],
    id: ({ country, class: name }) => `${country}:${name}`,
  }),
  without: "orders have no tax",
});
