import { type Static, Type } from "@sinclair/typebox";
import {
  deleted,
  input,
  languageForm,
  line,
  nullable,
  oneOf,
  output,
  patch,
  text,
  textUpTo,
  timestamp,
} from "../../../values/schema.ts";
import {
  availableText,
  notShown,
  stock,
  stockCount,
  Variant,
  VariantInput,
  versionText,
} from "../variants/variant-model.ts";
import { Image, ImageInput } from "./image-model.ts";

export const productStatus = oneOf(["draft", "published", "archived"], {
  description: "Customers and storefront keys see published products only.",
});
const price = Type.Number({
  minimum: 0,
  description: "Amount in the store's currency, with at most as many decimals as the currency has.",
  examples: [19.99],
});
export const maxTitle = 300;
export const maxCategories = 50;
const title = line(maxTitle);
const description = textUpTo(50_000);
const languageTag = textUpTo(35);
const form = { propertyNames: languageForm };
const fields = {
  title,
  slug: text(120, "Unique in the store. Default: made from the title."),
  description: nullable(description),
  status: productStatus,
  price,
  compare_at_price: nullable(
    Type.Number({ minimum: 0, description: "The former price, in the same form as `price`.", examples: [24.99] }),
  ),
  sku: nullable(line(100, "Unique in the store.")),
  stock,
  allow_backorder: Type.Boolean({ description: "Whether more than the stock can be ordered." }),
  images: Type.Array(ImageInput, { maxItems: 50 }),
  tags: Type.Array(line(100), { maxItems: 100, description: "No tag may be repeated." }),
  category_ids: Type.Array(text(120), {
    maxItems: maxCategories,
    description: "Categories of the product, by their ids; a write also accepts slugs.",
  }),
  metadata: Type.Record(textUpTo(100), Type.Unknown(), {
    description: "Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396).",
  }),
};

export const productTexts = { title, slug: fields.slug, description };

const { title: _title, price: _price, ...others } = fields;
const texts = input("Translation", { title: Type.Optional(title), description: Type.Optional(description) });
// The database checks the number of languages, because a PATCH merges with existing ones.
export const translations = Type.Record(languageTag, texts, {
  description: "Texts in languages other than `lang`, by language code; at most 50 languages.",
  form,
});
const optionalFields = Type.Partial(Type.Object({ ...others, translations })).properties;

export const ProductReplacement = input("ProductReplacement", { title, price, ...optionalFields });
export type ProductReplacement = Static<typeof ProductReplacement>;

export const ProductFields = Type.Partial(ProductReplacement, { $id: undefined });

export const ProductInput = input("ProductInput", {
  ...ProductReplacement.properties,
  variants: Type.Optional(
    Type.Array(VariantInput, { maxItems: 100, description: "Forms in which the product is sold, such as sizes." }),
  ),
});
export type ProductInput = Static<typeof ProductInput>;

const changedTexts = input("TranslationPatch", {
  title: Type.Optional(nullable(title)),
  description: Type.Optional(nullable(description)),
});

export const ProductPatch = patch("ProductPatch", {
  ...fields,
  translations: Type.Record(languageTag, nullable(changedTexts), {
    description: "Merged with existing translations; at most 50 languages. Null removes a text or a language.",
    form,
  }),
});
export type ProductPatch = Static<typeof ProductPatch>;

const count = Type.Integer({ minimum: 0 });

export const Product = output("Product", {
  id: Type.String({ description: "`prod_…`; sorts by creation time." }),
  ...fields,
  price_minor: Type.Integer({ minimum: 0, description: "The price in minor units of `currency`." }),
  stock: Type.Optional(stockCount(`Stock on hand, the sum of all variants; null if not counted. ${notShown}`)),
  available: stockCount(availableText),
  metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: "The store's own data. Customers and storefront keys see its member `public` only.",
  }),
  images: Type.Array(Image),
  translations: Type.Record(languageTag, texts, { description: "The texts in languages other than `lang`." }),
  variants: Type.Array(Variant),
  likes_count: count,
  views_count: count,
  currency: Type.String({ description: "ISO 4217." }),
  lang: Type.String({ description: "Language of the title; also sent as `Content-Language`." }),
  version: Type.Integer({ minimum: 1, description: versionText }),
  created_at: timestamp,
  updated_at: timestamp,
  published_at: nullable(timestamp),
});

export const DeletedProduct = deleted("DeletedProduct");
