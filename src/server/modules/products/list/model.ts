import { type Static, Type } from "@sinclair/typebox";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { idsPart, listParts, rangeParts, sortPart, timeRangeParts } from "../../../pagination/list-query.ts";
import { closed } from "../../../values/schema.ts";
import { Product, productStatus } from "../model.ts";

const productFields = Object.keys(Product.properties);
const catalogFields = productFields.filter((name) => name !== "stock");

/** The fields of a product that the caller may see. */
export function readableFields(ctx: Pick<Ctx, "actor">): readonly string[] {
  return isCatalogOnly(ctx) ? catalogFields : productFields;
}

const productSortKeys = ["created_at", "updated_at", "price", "title"] as const;
export type ProductSortKey = (typeof productSortKeys)[number];

const price = Type.Optional(Type.Number({ minimum: 0, description: "In the store's currency.", examples: [19.99] }));

export const ProductListQuery = closed({
  ...listParts,
  ...idsPart,
  ...sortPart(productSortKeys, { description: "With `q`, only `created_at` and `-created_at` are accepted." }),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "Search words. Each must be the beginning of a word in title, description, tags, SKU, variants or translations. Ignores case and accents.",
    }),
  ),
  slug: Type.Optional(Type.String({ maxLength: 200, description: "Only the product with this slug." })),
  status: Type.Optional(productStatus),
  ...rangeParts("price", price),
  ...timeRangeParts("created_at"),
  ...timeRangeParts("updated_at"),
});
export type ProductListQuery = Static<typeof ProductListQuery>;
