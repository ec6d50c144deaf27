import { type Static, Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../schema-parts.ts";

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
const fields = {
  title: Type.String({ minLength: 1, maxLength: 300 }),
  slug: Type.String({ minLength: 1, maxLength: 120, description: "Made from the title unless given; unique." }),
  description: nullable(Type.String({ maxLength: 50_000 })),
  status,
  price,
  sku: nullable(Type.String({ minLength: 1, maxLength: 100, description: "Unique in the store." })),
  stock: nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Null: not counted." })),
  images: Type.Array(image, { maxItems: 50 }),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description: "Each stands once.",
  }),
  metadata: Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
    description: "Free JSON, at most 16 KiB. PATCH merges it (RFC 7396).",
  }),
};

const { title, price: _price, ...others } = fields;
const optionalFields = Type.Partial(Type.Object(others));

/** What creates or replaces a product: `{title, price}` is complete. */
export const ProductInput = Type.Composite([Type.Object({ title, price }), optionalFields], {
  $id: "ProductInput",
  additionalProperties: false,
});
export type ProductInput = Static<typeof ProductInput>;

/** What changes a product: any of its fields. */
export const ProductPatch = Type.Partial(Type.Object(fields), { $id: "ProductPatch", additionalProperties: false });
export type ProductPatch = Static<typeof ProductPatch>;

const money = nullable(Type.Number({ minimum: 0 }));
const count = Type.Integer({ minimum: 0 });
const pieces = (description: string) => nullable(Type.Integer({ description }));

/** A variant as replies show it. */
export const Variant = Type.Object(
  {
    id: Type.String({ description: "`var_…`" }),
    title: Type.String(),
    sku: nullable(Type.String()),
    options: Type.Record(Type.String(), Type.String(), { description: 'What was chosen, such as `{"size": "M"}`.' }),
    price: Type.Number({ minimum: 0 }),
    price_minor: count,
    compare_at_price: money,
    currency: Type.String({ description: "ISO 4217." }),
    stock: pieces("Pieces on hand; null: not counted."),
    available: pieces("Pieces that unpaid orders do not hold; null: not counted."),
    position: Type.Integer(),
    version: Type.Integer({ minimum: 1 }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: "Variant" },
);

/** A product as every reply shows it (specification, section 2; design of the other fields). */
export const Product = Type.Object(
  {
    id: Type.String({ description: "`prod_…`, sorts by age." }),
    ...fields,
    price_minor: Type.Integer({ minimum: 0, description: "The price in minor units of `currency`." }),
    compare_at_price: money,
    stock: pieces("Pieces on hand, of all variants together; null: not counted."),
    available: pieces("Pieces that unpaid orders do not hold; null: not counted."),
    allow_backorder: Type.Boolean({ description: "Whether it is sold beyond its stock." }),
    translations: Type.Record(
      Type.String(),
      Type.Object({
        title: Type.Optional(Type.String()),
        description: Type.Optional(Type.String()),
      }),
    ),
    variants: Type.Array(Variant),
    likes_count: count,
    views_count: count,
    currency: Type.String({ description: "ISO 4217." }),
    lang: Type.String({ description: "Language of the texts." }),
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

/** The id as it stands in the path; one that no product can have is answered as unknown (5301). */
export const ProductParams = Type.Object({ id: Type.String() });

/** Keys that a list of products can be sorted by; a hyphen before it turns it round. */
export const productSortKeys = ["created_at", "updated_at", "price", "title"] as const;
export type ProductSortKey = (typeof productSortKeys)[number];

export const ProductListQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    cursor: Type.Optional(Type.String({ maxLength: 4000, description: "`page.next_cursor` of the page before." })),
    sort: Type.Optional(
      Type.Union(
        productSortKeys.flatMap((key) => [Type.Literal(key), Type.Literal(`-${key}` as const)]),
        { default: "-created_at" },
      ),
    ),
    status: Type.Optional(status),
    "price[gte]": Type.Optional(price),
    "price[lte]": Type.Optional(price),
  },
  { additionalProperties: false },
);
export type ProductListQuery = Static<typeof ProductListQuery>;
