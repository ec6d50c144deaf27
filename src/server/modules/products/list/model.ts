import { type Static, Type } from "@sinclair/typebox";
import { fieldsPart, idsPart, listParts, rangeParts, timeRangeParts } from "../../../pagination/list-query.ts";
import { closed } from "../../../values/schema.ts";
import { Product } from "../model.ts";

/** Names for `fields`. */
export const productFields = Object.keys(Product.properties);

export const ProductQuery = closed(fieldsPart);

/** Sort keys; a leading hyphen sorts in descending order. */
const productSortKeys = ["created_at", "updated_at", "price", "title"] as const;
export type ProductSortKey = (typeof productSortKeys)[number];

const price = Type.Optional(Type.Number({ minimum: 0, description: "In the store's currency.", examples: [19.99] }));

export const ProductListQuery = closed({
  ...listParts,
  ...idsPart,
  sort: Type.Optional(
    Type.Union(
      productSortKeys.flatMap((key) => [Type.Literal(key), Type.Literal(`-${key}` as const)]),
      { default: "-created_at", description: "With `q`, only `created_at` and `-created_at` are accepted." },
    ),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "Search words. Each must be the beginning of a word in title, description, tags, SKU, variants or translations. Ignores case and accents.",
    }),
  ),
  slug: Type.Optional(Type.String({ maxLength: 200, description: "Only the product with this slug." })),
  status: Type.Optional(
    Type.Union([Type.Literal("draft"), Type.Literal("published"), Type.Literal("archived")], {
      description: "Customers see published products only.",
    }),
  ),
  ...rangeParts("price", price),
  ...timeRangeParts("created_at"),
  ...timeRangeParts("updated_at"),
});
export type ProductListQuery = Static<typeof ProductListQuery>;
