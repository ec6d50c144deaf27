import { type Static, Type } from "@sinclair/typebox";
import { fieldsPart, listParts } from "../../pagination/list-query.ts";
import { nullable, timestamp } from "../../values/schema.ts";

/** Most characters of a note. */
export const maxNote = 500;

const customerId = Type.Optional(
  Type.String({ maxLength: 100, description: "Whose list, for app keys (also by `user_id`) and staff." }),
);
const variantId = Type.Optional(
  nullable(Type.String({ maxLength: 100, description: "The choice among the product's variants." })),
);
const note = Type.Optional(nullable(Type.String({ minLength: 1, maxLength: maxNote })));

/** What puts a product on a list. */
export const WishlistInput = Type.Object(
  { product_id: Type.String({ maxLength: 100 }), variant_id: variantId, note, customer_id: customerId },
  { $id: "WishlistInput", additionalProperties: false },
);
export type WishlistInput = Static<typeof WishlistInput>;

/** What an item holds besides its product; what is not given is cleared. */
export const WishlistReplacement = Type.Object(
  { variant_id: variantId, note },
  { $id: "WishlistReplacement", additionalProperties: false },
);
export type WishlistReplacement = Static<typeof WishlistReplacement>;

const WishlistProduct = Type.Object({
  id: Type.String({ description: "`prod_…`" }),
  title: Type.String({ description: "In the language asked for, where it has that." }),
  slug: Type.String(),
  image: nullable(Type.String({ description: "Address of the first picture." })),
});

const minor = Type.Integer({ minimum: 0, description: "In minor units of `currency`." });

/** An item of a list as every reply shows it. */
export const WishlistItem = Type.Object(
  {
    id: Type.String({ description: "`wish_…`" }),
    product_id: Type.String(),
    variant_id: nullable(Type.String()),
    note: nullable(Type.String()),
    price_at_add: Type.Number({ minimum: 0, description: "What it cost when it, or this variant of it, was chosen." }),
    price_at_add_minor: minor,
    currency: Type.String({ description: "ISO 4217." }),
    product: nullable(WishlistProduct),
    price: nullable(Type.Number({ minimum: 0, description: "What it costs now; null when it is not on sale." })),
    price_minor: nullable(minor),
    available: Type.Boolean({ description: "Whether it is on sale, and there or sold on backorder." }),
    version: Type.Integer({ minimum: 1, description: "Moves by one with every write; sent as `ETag`." }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: "WishlistItem" },
);

/** What a removal answers. */
export const RemovedWishlistItem = Type.Object(
  { id: Type.String(), product_id: Type.String(), deleted: Type.Literal(true) },
  { $id: "RemovedWishlistItem" },
);

/** The product as it stands in the path; what no product can be is answered as unknown (notFound). */
export const WishlistParams = Type.Object({ product_id: Type.String() });

export const WishlistQuery = Type.Object({ ...listParts, customer_id: customerId }, { additionalProperties: false });
export type WishlistQuery = Static<typeof WishlistQuery>;

/** Whose item, and which of its fields. */
export const WishlistItemQuery = Type.Object(
  { ...fieldsPart, customer_id: customerId },
  { additionalProperties: false },
);

/** Whose item is written. */
export const WishlistOwnerQuery = Type.Object({ customer_id: customerId }, { additionalProperties: false });
