import { type Static, Type } from "@sinclair/typebox";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { idsPart, listParts, rangeParts, timeRangeParts } from "../../../pagination/list-query.ts";
import { closed, namesForm, oneOf, text, textUpTo } from "../../../values/schema.ts";
import { Product, productStatus } from "../products/model.ts";

const productFields = Object.keys(Product.properties);
const catalogFields = productFields.filter((name) => name !== "stock");

export function readableFields(ctx: Pick<Ctx, "actor">): readonly string[] {
  return isCatalogOnly(ctx) ? catalogFields : productFields;
}

const productSortKeys = ["created_at", "updated_at", "price", "title", "views_count"] as const;
const bestFirst = ["popular", "relevance"] as const;
export type ProductSortKey = (typeof productSortKeys)[number] | (typeof bestFirst)[number];

const price = Type.Optional(Type.Number({ minimum: 0, description: "In the store's currency.", examples: [19.99] }));

export const ProductListQuery = closed({
  ...listParts,
  ...idsPart,
  sort: Type.Optional(
    oneOf([...productSortKeys.flatMap((key) => [key, `-${key}` as const]), ...bestFirst], {
      default: "-created_at",
      description:
        "`popular` begins with the most viewed and liked products; a like counts as ten views. `relevance` begins with products that have all words of `q` in a title, and needs `q`.",
    }),
  ),
  q: Type.Optional(
    text(
      200,
      "Search words. A product must match all of them. A search word matches the words in title, description, tags, SKU, variants and translations that begin with it, and its singular and plural. Ignores case and accents. If no product has a word of 4 to 16 letters, up to 8 words that differ in one letter after the first are searched.",
    ),
  ),
  tag: Type.Optional(
    Type.Array(text(100), {
      maxItems: 10,
      description:
        "Only products with this tag. If the parameter is repeated, only products with all of these tags. `a,b` is one tag with a comma; if no product has it, the reply is 5102.",
    }),
  ),
  category: Type.Optional(
    textUpTo(
      200,
      "Id or slug of a category: only products in the category or its descendants. For an unknown category, the reply is 5102.",
    ),
  ),
  option: Type.Optional(
    Type.Record(textUpTo(50), text(100), {
      maxProperties: 10,
      description:
        'Such as `{"colour": "blue"}` or `option[colour]=blue`: only products with a variant that has all given options.',
    }),
  ),
  sku: Type.Optional(text(100, "Only the product that has this SKU, or a variant with it. Ignores case.")),
  available: Type.Optional(Type.Boolean({ description: "If true, only products that can be ordered now." })),
  on_sale: Type.Optional(
    Type.Boolean({
      description: "If true, only products with a former price above the present one, or with such a variant.",
    }),
  ),
  facets: Type.Optional(
    textUpTo(
      100,
      "Comma-separated: `tags`, `categories`, `options`, `price`. Returns how many products have each value, as `page.facets`. Each facet counts products that match the other filters.",
      { form: namesForm(["tags", "categories", "options", "price"]) },
    ),
  ),
  slug: Type.Optional(textUpTo(200, "Only the product with this slug.")),
  status: Type.Optional(productStatus),
  ...rangeParts("price", price),
  ...timeRangeParts("created_at"),
  ...timeRangeParts("updated_at"),
});
export type ProductListQuery = Static<typeof ProductListQuery>;
