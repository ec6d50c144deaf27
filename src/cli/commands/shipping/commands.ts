import type { ShippingRateDocument } from "../../../server/modules/shipping/service.ts";
import { formatPrice } from "../../../server/modules/tenants/input.ts";
import { defineRates } from "./rates.ts";

const amounts = ["price", "free_from", "min_value", "max_value"] as const;
const weights = ["min_weight_g", "max_weight_g"] as const;

export const { setCommand, showCommand } = defineRates<ShippingRateDocument>({
  noun: "shipping",
  example: "rates.csv",
  notes: [
    "Columns: zone,countries,postcodes,name,price,free_from,min_value,max_value,min_weight_g,max_weight_g,tax_class. " +
      "Put spaces between countries, and between beginnings of postcodes. * stands for all other countries. name_de is the German name. " +
      "An empty cell sets no limit. With an empty tax_class, shipping is taxed like the goods.",
    "One zone applies to an address: the zone with the longest matching postcode. If no postcode matches, the zone of the " +
      "country applies. If no zone has the country, the zone of * applies.",
    "After this command, each order must name a rate that applies to its address and goods. A store without rates ships for 0.",
  ],
  replace: async (ctx, csv) => (await import("../../../server/modules/shipping/csv.ts")).importShippingRates(ctx, csv),
  list: async (ctx) => (await import("../../../server/modules/shipping/service.ts")).listShippingRates(ctx),
  view(rates, { tenant }) {
    const isUsed = (name: keyof ShippingRateDocument) => rates.some((rate) => rate[name] != null);
    const amount = (name: (typeof amounts)[number]) => ({
      header: name.replaceAll("_", " ").toUpperCase(),
      value: ({ [name]: found }: ShippingRateDocument) => (found == null ? "-" : formatPrice(found, tenant.currency)),
    });
    return {
      columns: [
        ...(["zone", "countries", "postcodes", "name"] as const),
        ...amounts.filter(isUsed).map(amount),
        ...weights.filter(isUsed),
        "tax_class",
      ],
      id: ({ id }) => id,
    };
  },
  without: "orders ship for 0",
});
