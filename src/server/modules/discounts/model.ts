import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../pagination/list-query.ts";
import { closed, input, nullable, output, textUpTo, timestamp, whole } from "../../values/schema.ts";

const money = (description: string) => Type.Optional(nullable(Type.Number({ minimum: 0, description })));
const ids = (description: string) => Type.Optional(Type.Array(textUpTo(100), { maxItems: 200, description }));

const fields = {
  percent: Type.Optional(
    nullable(Type.Number({ exclusiveMinimum: 0, maximum: 100, description: "Percentage of the eligible goods." })),
  ),
  amount: money("Amount off the eligible goods, at most their value."),
  free_shipping: Type.Optional(Type.Boolean({ description: "Whether shipping costs nothing." })),
  minimum: money("The lowest value of all goods before the discount."),
  product_ids: ids("Only these products, and those of `category_ids`. If both are empty, all products."),
  category_ids: ids("Only products of these categories and of those below them."),
  from: Type.Optional(nullable(timestamp)),
  until: Type.Optional(nullable(timestamp)),
  limit: Type.Optional(nullable(whole(1, 1_000_000_000, "Maximum number of uses."))),
  per_customer: Type.Optional(nullable(whole(1, 1_000_000, "Maximum number of uses per customer or email address."))),
};

export const DiscountInput = input("DiscountInput", {
  code: Type.String({
    minLength: 1,
    maxLength: 50,
    form: { pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$" },
    expects: "letters, digits, hyphens and underscores",
    description: "Unique in the store, ignoring case.",
    examples: ["SUMMER10"],
  }),
  ...fields,
});
export type DiscountInput = Static<typeof DiscountInput>;

export const Discount = output("Discount", {
  id: Type.String({ description: "`dsc_…`; sorts by creation time." }),
  code: Type.String(),
  percent: nullable(Type.Number()),
  amount: nullable(Type.Number()),
  amount_minor: nullable(Type.Integer()),
  free_shipping: Type.Boolean(),
  minimum: nullable(Type.Number()),
  minimum_minor: nullable(Type.Integer()),
  product_ids: Type.Array(Type.String()),
  category_ids: Type.Array(Type.String()),
  from: nullable(timestamp),
  until: nullable(timestamp),
  limit: nullable(Type.Integer()),
  per_customer: nullable(Type.Integer()),
  uses: Type.Integer({
    minimum: 0,
    description: "Number of orders that use the code. Expired and cancelled orders do not count.",
  }),
  created_at: timestamp,
});
export type Discount = Static<typeof Discount>;

export const DiscountListQuery = closed(listParts);
export type DiscountListQuery = Static<typeof DiscountListQuery>;
