import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../../pagination/list-query.ts";
import {
  closed,
  deleted,
  input,
  nullable,
  output,
  patch,
  text,
  textUpTo,
  timestamp,
  whole,
} from "../../../values/schema.ts";
import { ProductPatch, productTexts, translations } from "../products/model.ts";

export const limits = { depth: 8, categories: 2000 } as const;

const { title, slug, description } = productTexts;
const above = `Id of the parent category; a write also accepts its slug. Null for a top category. At most ${limits.depth} levels.`;
const fields = {
  parent_id: nullable(text(120, above)),
  slug,
  title,
  description: nullable(description),
  position: whole(0, 1_000_000, "Position among the categories with the same parent. Default: last."),
  published: Type.Boolean({
    default: true,
    description:
      "Customers and storefront keys see a category only if the category and all its ancestors are published.",
  }),
};
const optional = Type.Partial(Type.Object({ ...fields, translations })).properties;

export const CategoryInput = input("CategoryInput", { ...optional, title });
export type CategoryInput = Static<typeof CategoryInput>;

export const CategoryPatch = patch("CategoryPatch", { ...fields, translations: ProductPatch.properties.translations });
export type CategoryPatch = Static<typeof CategoryPatch>;

export const Category = output("Category", {
  id: Type.String({ description: "`cat_…`" }),
  ...fields,
  translations,
  lang: Type.String({
    description: "Language of the title. The reply with one category also has it as `Content-Language`.",
  }),
  version: Type.Integer({ minimum: 1, description: "Increases by one with every write; sent as `ETag`." }),
  created_at: timestamp,
  updated_at: timestamp,
});
export type Category = Static<typeof Category>;
export const categoryFields = Object.keys(Category.properties);

export const DeletedCategory = deleted("DeletedCategory");

export const CategoryParams = Type.Object({ id: Type.String({ description: "The id or the slug of the category." }) });

export const CategoryListQuery = closed({
  ...listParts,
  parent_id: Type.Optional(
    textUpTo(200, "Only the children of this category, by its id; `none` for the top categories."),
  ),
});
export type CategoryListQuery = Static<typeof CategoryListQuery>;
