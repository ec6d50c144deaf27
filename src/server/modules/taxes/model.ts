import { type Static, Type } from "@sinclair/typebox";
import { invalidField } from "../../errors.ts";
import { input, text } from "../../values/schema.ts";
import { country } from "../users/model.ts";

export const taxClassPattern = "^[a-z0-9][a-z0-9_-]*$";
export const taxClass = text(50, "`standard`, `reduced`, `zero`, or a name that the store chooses.", {
  form: { pattern: taxClassPattern },
  expects: "lowercase letters, digits, hyphens and underscores",
  examples: ["standard"],
});

export const TaxRate = input("TaxRate", {
  class: taxClass,
  country,
  rate: Type.Number({
    minimum: 0,
    maximum: 100,
    description: "In percent, with at most three decimals.",
    examples: [19],
  }),
});
export type TaxRate = Static<typeof TaxRate>;

export const TaxRates = input("TaxRates", {
  rates: Type.Array(TaxRate, { maxItems: 5000, description: "Replaces all rates of the store." }),
});

const classForm = new RegExp(taxClassPattern);

export function requireTaxClass(field: string, name: string): string {
  if (classForm.test(name) && name.length <= 50) return name;
  throw invalidField(field, "must be at most 50 lowercase letters, digits, hyphens and underscores");
}
