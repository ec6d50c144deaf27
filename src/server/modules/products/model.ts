import { type Static, Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../values/schema.ts";
import { maxPieces } from "./most-pieces.ts";
import { Variant, VariantInput } from "./variants/variant-model.ts";

const status = Type.Union([Type.Literal("draft"), Type.Literal("published"), Type.Literal("archived")], {
  description: "Only published products are shown to customers.",
});
const image = Type.Object(
  {
    url: Type.String({ minLength: 1, maxLength: 2048, expects: "an http or https address" }),
    alt: Type.Optional(Type.String({ maxLength: 500, description: "What the picture shows, in words." })),
  },
  { additionalProperties: false },
);

const price = Type.Number({
  minimum: 0,
  description: "In the store's currency, with at most as many decimals as it has.",
  examples: [19.99],
});
const title = Type.String({ minLength: 1, maxLength: 300 });
const description = Type.String({ maxLength: 50_000 });
const languageTag = Type.String({ maxLength: 35 });
const fields = {
  title,
  slug: Type.String({ minLength: 1, maxLength: 120, description: "Made from the title unless given; unique." }),
  description: nullable(description),
  status,
  price,
  compare_at_price: nullable(
    Type.Number({ minimum: 0, description: "What it cost before, or elsewhere; as `price`.", examples: [24.99] }),
  ),
  sku: nullable(Type.String({ minLength: 1, maxLength: 100, description: "Unique in the store." })),
  stock: nullable(Type.Integer({ minimum: 0, maximum: maxPieces, description: "Null: not counted." })),
  allow_backorder: Type.Boolean({ description: "Whether it is sold beyond its stock." }),
  images: Type.Array(image, { maxItems: 50 }),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description: "Each stands once.",
  }),
  metadata: Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
    description: "Free JSON, at most 16 KiB. PATCH merges it (RFC 7396).",
  }),
};

const { title: _title, price: _price, ...others } = fields;
const texts = Type.Object(
  { title: Type.Optional(title), description: Type.Optional(description) },
  { additionalProperties: false },
);
// How many there can be is the database's to say: it knows what stands already.
const translations = Type.Record(languageTag, texts, {
  description: "Texts in other languages than `lang`, by language code; at most 50 languages.",
});
const optionalFields = Type.Partial(Type.Object({ ...others, translations }));

/** What replaces a product: `{title, price}` is complete. */
export const ProductReplacement = Type.Composite([Type.Object({ title, price }), optionalFields], {
  $id: "ProductReplacement",
  additionalProperties: false,
});
export type ProductReplacement = Static<typeof ProductReplacement>;

/** What creates a product: `{title, price}` is complete. */
export const ProductInput = Type.Composite(
  [
    Type.Object({ title, price }),
    optionalFields,
    Type.Object({
      variants: Type.Optional(
        Type.Array(VariantInput, { maxItems: 100, description: "The forms it is sold in; none: as it is." }),
      ),
    }),
  ],
  { $id: "ProductInput", additionalProperties: false },
);
export type ProductInput = Static<typeof ProductInput>;

const changedTexts = Type.Object(
  { title: Type.Optional(nullable(title)), description: Type.Optional(nullable(description)) },
  { additionalProperties: false },
);

/** What changes a product: any of its fields. */
export const ProductPatch = Type.Partial(
  Type.Object({
    ...fields,
    translations: Type.Record(languageTag, nullable(changedTexts), {
      description: "Merged with those that stand, to at most 50; null takes away a text, or all of a language.",
    }),
  }),
  { $id: "ProductPatch", additionalProperties: false },
);
export type ProductPatch = Static<typeof ProductPatch>;

const count = Type.Integer({ minimum: 0 });
const pieces = (description: string) => nullable(Type.Integer({ description }));

/** A product as every reply shows it (specification, section 2; design of the other fields). */
export const Product = Type.Object(
  {
    id: Type.String({ description: "`prod_…`, sorts by age." }),
    ...fields,
    price_minor: Type.Integer({ minimum: 0, description: "The price in minor units of `currency`." }),
    stock: pieces("Pieces on hand, of all variants together; null: not counted."),
    available: pieces("Pieces that unpaid orders do not hold; null: not counted."),
    translations: Type.Record(languageTag, texts, { description: "The texts in other languages than `lang`." }),
    variants: Type.Array(Variant),
    likes_count: count,
    views_count: count,
    currency: Type.String({ description: "ISO 4217." }),
    lang: Type.String({ description: "Language of the title; also sent as `Content-Language`." }),
    version: Type.Integer({ minimum: 1, description: "Moves by one with every write; sent as `ETag`." }),
    created_at: timestamp,
    updated_at: timestamp,
    published_at: nullable(timestamp),
  },
  { $id: "Product" },
);

/** What a delete answers. */
export const DeletedProduct = Type.Object(
  { id: Type.String(), deleted: Type.Literal(true) },
  { $id: "DeletedProduct" },
);

/** The id as it stands in the path; one that no product can have is answered as unknown (notFound). */
export const ProductParams = Type.Object({ id: Type.String() });
