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
  whole,
} from "../../../values/schema.ts";
import { taxClass } from "../../taxes/model.ts";
import { Image, ImageInput } from "./images.ts";
import { maxShownStock } from "./rendering.ts";

/** Maximum stock of a product or variant. The sum of all variants of a product is still exact in JSON. */
export const maxStock = 1_000_000_000_000;
export const maxTitle = 300;
export const maxWeight = 1_000_000_000;
export const maxCategories = 50;
export const maxVariants = 100;

const amount = (description: string, example: number) => Type.Number({ minimum: 0, description, examples: [example] });
const stocked = {
  sku: nullable(line(100, "Unique in the store.")),
  stock: nullable(whole(0, maxStock, "Null if stock is not counted.")),
};
const stockCount = (description: string) => nullable(Type.Integer({ description }));
const shown = {
  price_minor: Type.Integer({ minimum: 0, description: "The price in minor units of `currency`." }),
  stock: Type.Optional(
    stockCount(
      "Stock on hand; a product has the sum of its variants. Null if not counted. Not shown to customers and storefront keys.",
    ),
  ),
  available: stockCount(
    `Stock minus what unpaid orders reserve; null if not counted. Customers and storefront keys see at most ${maxShownStock}.`,
  ),
  images: Type.Array(Image),
  currency: Type.String({ description: "ISO 4217." }),
  version: Type.Integer({
    minimum: 1,
    description:
      "Increases by one with every write; sent as `ETag`. For customers and storefront keys, a sale changes `version` and `updated_at` only if it changes `available`.",
  }),
  created_at: timestamp,
  updated_at: timestamp,
};

const variantFields = {
  title: line(maxTitle, "Default: made from the options, such as `M / Red`."),
  ...stocked,
  options: Type.Record(textUpTo(50), line(100), {
    maxProperties: 10,
    description: 'Such as `{"size": "M"}`. No two variants of a product may have the same options.',
  }),
  price: nullable(amount("The variant's own price. Null, the default, means the product's price.", 19.99)),
  compare_at_price: nullable(amount("The former price. It requires the variant's own `price`.", 24.99)),
  weight_g: nullable(whole(0, maxWeight, "Grams of one piece. Null for the product's weight.")),
  images: Type.Array(ImageInput, { maxItems: 20 }),
  position: whole(0, 1_000_000, "Place among the variants. Default: last."),
};

export const VariantInput = patch("VariantInput", variantFields);
export type VariantInput = Static<typeof VariantInput>;

export const Variant = output("Variant", {
  id: Type.String({ description: "`var_…`" }),
  ...variantFields,
  ...shown,
  price: Type.Number({ minimum: 0, description: "The variant's own price, or the product's." }),
  has_own_price: Type.Boolean({ description: "False if `price` and `compare_at_price` are the product's." }),
});

/** Names a product in a path. A malformed name gets notFound, like an unknown name. */
export const ProductParams = Type.Object({ id: Type.String({ description: "The id or the slug of the product." }) });

export const VariantParams = Type.Object({ ...ProductParams.properties, variant_id: Type.String() });

export const productStatus = oneOf(["draft", "published", "archived"], {
  description: "Customers and storefront keys see published products only.",
});
const title = line(maxTitle);
const price = amount("Amount in the store's currency, with at most as many decimals as the currency has.", 19.99);
const description = textUpTo(50_000);
const languageTag = textUpTo(35);
const form = { propertyNames: languageForm };
const fields = {
  title,
  slug: text(120, "Unique in the store. Default: made from the title."),
  description: nullable(description),
  status: productStatus,
  price,
  compare_at_price: nullable(amount("The former price, in the same form as `price`.", 24.99)),
  ...stocked,
  allow_backorder: Type.Boolean({ description: "Whether more than the stock can be ordered." }),
  weight_g: nullable(whole(0, maxWeight, "Grams of one piece.")),
  requires_shipping: Type.Boolean({ description: "Whether the product is shipped. Default: true." }),
  tax_class: taxClass,
  images: Type.Array(ImageInput, { maxItems: 50 }),
  tags: Type.Array(line(100), { maxItems: 100, description: "No tag may be repeated." }),
  category_ids: Type.Array(text(120), { maxItems: maxCategories, description: "A write also accepts slugs." }),
  metadata: Type.Record(textUpTo(100), Type.Unknown(), {
    description: "Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396).",
  }),
};

export const productTexts = { title, slug: fields.slug, description };

const texts = input("Translation", { title: Type.Optional(title), description: Type.Optional(description) });
// A PATCH merges translations with existing ones, so the update checks the number of languages.
export const translations = Type.Record(languageTag, texts, {
  description: "Texts in languages other than `lang`, by language code; at most 50 languages.",
  form,
});

export const ProductFields = Type.Partial(Type.Object({ ...fields, translations }), { additionalProperties: false });

export const ProductReplacement = input("ProductReplacement", { ...ProductFields.properties, title, price });
export type ProductReplacement = Static<typeof ProductReplacement>;

export const ProductInput = input("ProductInput", {
  ...ProductReplacement.properties,
  variants: Type.Optional(Type.Array(VariantInput, { maxItems: maxVariants, description: "Such as sizes." })),
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
  ...shown,
  metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: "The store's own data. Customers and storefront keys see its member `public` only.",
  }),
  translations: Type.Record(languageTag, texts, { description: "The texts in languages other than `lang`." }),
  variants: Type.Array(Variant),
  likes_count: count,
  views_count: count,
  lang: Type.String({ description: "Language of the title; also sent as `Content-Language`." }),
  published_at: nullable(timestamp),
});

export const DeletedProduct = deleted("DeletedProduct");
export const DeletedVariant = deleted("DeletedVariant");
