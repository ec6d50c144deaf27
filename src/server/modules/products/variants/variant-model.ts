import { type Static, Type } from "@sinclair/typebox";
import { nullable, timestamp } from "../../../values/schema.ts";
import { maxPieces } from "../most-pieces.ts";

const option = Type.String({ minLength: 1, maxLength: 100 });
const fields = {
  title: Type.String({ minLength: 1, maxLength: 300, description: "Made from the options unless given: `M / Red`." }),
  sku: nullable(Type.String({ minLength: 1, maxLength: 100, description: "Unique in the store." })),
  options: Type.Record(Type.String({ maxLength: 50 }), option, {
    maxProperties: 10,
    description: 'What is chosen, such as `{"size": "M"}`; no other variant of the product has the same.',
  }),
  price: nullable(
    Type.Number({
      minimum: 0,
      description: "Null, or not given at first: the product's, which it then follows.",
      examples: [19.99],
    }),
  ),
  compare_at_price: nullable(
    Type.Number({
      minimum: 0,
      description: "What it cost before, or elsewhere; follows the product's as `price` does.",
    }),
  ),
  stock: nullable(Type.Integer({ minimum: 0, maximum: maxPieces, description: "Null: not counted." })),
  position: Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Its place; after the others unless given." }),
};

/** What creates or replaces a variant: a title or options. */
export const VariantInput = Type.Partial(Type.Object(fields), { $id: "VariantInput", additionalProperties: false });
export type VariantInput = Static<typeof VariantInput>;

/** What changes a variant: any of its fields. */
export const VariantPatch = Type.Partial(Type.Object(fields), { $id: "VariantPatch", additionalProperties: false });
export type VariantPatch = Static<typeof VariantPatch>;

const pieces = (description: string) => nullable(Type.Integer({ description }));

/** A variant as replies show it. */
export const Variant = Type.Object(
  {
    id: Type.String({ description: "`var_…`" }),
    ...fields,
    price: Type.Number({ minimum: 0, description: "What it is sold for: its own price, or the product's." }),
    price_minor: Type.Integer({ minimum: 0 }),
    has_own_price: Type.Boolean({ description: "False: price and `compare_at_price` follow the product's." }),
    currency: Type.String({ description: "ISO 4217." }),
    stock: pieces("Pieces on hand; null: not counted."),
    available: pieces("Pieces that unpaid orders do not hold; null: not counted."),
    version: Type.Integer({ minimum: 1, description: "Moves by one with every write; sent as `ETag`." }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: "Variant" },
);

/** What a delete answers. */
export const DeletedVariant = Type.Object(
  { id: Type.String(), deleted: Type.Literal(true) },
  { $id: "DeletedVariant" },
);

/** The ids as they stand in the path; those that no record can have are answered as unknown (notFound). */
export const VariantParams = Type.Object({ id: Type.String(), variant_id: Type.String() });
