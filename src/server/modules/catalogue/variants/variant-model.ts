import { type Static, Type } from "@sinclair/typebox";
import { deleted, line, nullable, output, patch, textUpTo, timestamp, whole } from "../../../values/schema.ts";
import { Image, ImageInput } from "../products/image-model.ts";
import { maxShownStock } from "../products/rendering.ts";

/** Maximum stock of a product or variant. The sum of all variants of a product is still exact in JSON. */
export const maxStock = 1_000_000_000_000;

export const stock = nullable(whole(0, maxStock, "Null if stock is not counted."));
const fields = {
  title: line(300, "Default: made from the options, such as `M / Red`."),
  sku: nullable(line(100, "Unique in the store.")),
  options: Type.Record(textUpTo(50), line(100), {
    maxProperties: 10,
    description: 'Such as `{"size": "M"}`. No two variants of a product may have the same options.',
  }),
  price: nullable(
    Type.Number({
      minimum: 0,
      description: "Price of the variant. If null, or omitted at creation, the variant uses the product's price.",
      examples: [19.99],
    }),
  ),
  compare_at_price: nullable(
    Type.Number({
      minimum: 0,
      description: "The former price. It requires a `price` of the variant's own; without one, both are the product's.",
    }),
  ),
  stock,
  images: Type.Array(ImageInput, { maxItems: 20 }),
  position: whole(0, 1_000_000, "Place among the variants. Default: last."),
};

export const VariantInput = patch("VariantInput", fields);
export type VariantInput = Static<typeof VariantInput>;

export const stockCount = (description: string) => nullable(Type.Integer({ description }));

export const notShown = "Not shown to customers and storefront keys.";
export const availableText = `Stock minus what unpaid orders reserve; null if not counted. Customers and storefront keys see at most ${maxShownStock}.`;
export const versionText =
  "Increases by one with every write; sent as `ETag`. For customers and storefront keys, `version` and `updated_at` change with a sale only if `available` does.";

export const Variant = output("Variant", {
  id: Type.String({ description: "`var_…`" }),
  ...fields,
  price: Type.Number({ minimum: 0, description: "The variant's own price, or the product's." }),
  price_minor: Type.Integer({ minimum: 0 }),
  has_own_price: Type.Boolean({ description: "False if `price` and `compare_at_price` are the product's." }),
  currency: Type.String({ description: "ISO 4217." }),
  stock: Type.Optional(stockCount(`Stock on hand; null if not counted. ${notShown}`)),
  available: stockCount(availableText),
  images: Type.Array(Image),
  version: Type.Integer({ minimum: 1, description: versionText }),
  created_at: timestamp,
  updated_at: timestamp,
});

export const DeletedVariant = deleted("DeletedVariant");

/** A product in a path. A malformed name is treated as an unknown one: notFound. */
export const ProductParams = Type.Object({ id: Type.String({ description: "The id or the slug of the product." }) });

export const VariantParams = Type.Object({ ...ProductParams.properties, variant_id: Type.String() });
