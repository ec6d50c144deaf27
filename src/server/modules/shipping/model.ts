import { type Static, Type } from "@sinclair/typebox";
import { closed, input, languageForm, line, nullable, output, textUpTo, whole } from "../../values/schema.ts";
import { taxClass } from "../taxes/model.ts";
import { country } from "../users/model.ts";

const amount = (description: string) => Type.Optional(nullable(Type.Number({ minimum: 0, description })));
const grams = (description: string) => Type.Optional(nullable(whole(0, 1_000_000_000, description)));
const noBound = "Without it, there is no limit.";

const rateFields = {
  zone: line(100, "All rates of a zone must have the same countries and postcodes."),
  countries: Type.Array(textUpTo(2), {
    minItems: 1,
    maxItems: 250,
    description: "ISO 3166-1 alpha-2 in capitals; `*` stands for all other countries.",
    examples: [["DE", "AT"]],
  }),
  postcodes: Type.Optional(
    Type.Array(line(12), {
      maxItems: 500,
      description: "Beginnings of postcodes; an empty list is the whole country.",
    }),
  ),
  name: line(100, "The name that buyers see. Unique in its zone."),
  names: Type.Optional(
    Type.Record(textUpTo(35), line(100), {
      description: "The name in other languages, by language code.",
      form: { propertyNames: languageForm },
    }),
  ),
  price: Type.Number({ minimum: 0 }),
  free_from: amount("From this value of goods, after discount, shipping costs 0."),
  min_value: amount(`The lowest value of goods, after discount. ${noBound}`),
  max_value: amount(`The highest value of goods, after discount. ${noBound}`),
  min_weight_g: grams(`The lowest weight. ${noBound}`),
  max_weight_g: grams(`The highest weight. ${noBound}`),
  tax_class: Type.Optional(nullable(taxClass)),
};

export const ShippingRateInput = input("ShippingRateInput", rateFields);
export type ShippingRateInput = Static<typeof ShippingRateInput>;
export const ShippingRates = input("ShippingRates", {
  rates: Type.Array(ShippingRateInput, { maxItems: 1000, description: "Replaces all rates of the store." }),
});

export const ShippingRate = output("ShippingRate", {
  id: Type.String({ description: "`ship_…`; stays the same while zone and name stay the same." }),
  ...rateFields,
});

/** A rate that applies to an address and goods, with its price for these goods. */
export const ShippingOffer = output("ShippingOffer", {
  id: Type.String(),
  name: Type.String({ description: "In the language of the request, if the store has it." }),
  zone: Type.String(),
  price: Type.Number({ minimum: 0 }),
  price_minor: Type.Integer({ minimum: 0 }),
});

export const ShippingQuery = closed({
  country: Type.Optional(country),
  postal_code: Type.Optional(textUpTo(32)),
  value: Type.Optional(Type.Number({ minimum: 0, description: "Value of the goods, after discount." })),
  weight_g: Type.Optional(whole(0, 1_000_000_000, "Weight of the goods.")),
});
