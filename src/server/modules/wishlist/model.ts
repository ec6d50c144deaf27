import { type Static, Type } from "@sinclair/typebox";
import { listParts } from "../../pagination/list-query.ts";
import { closed, input, lines, nullable, output, textUpTo, timestamp } from "../../values/schema.ts";

export const maxNote = 500;

export const customerId = Type.Optional(
  textUpTo(
    100,
    "Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`.",
  ),
);
const variantId = Type.Optional(nullable(textUpTo(100, "Id of the chosen variant of the product.")));
const note = Type.Optional(nullable(lines(maxNote)));

export const WishlistInput = input("WishlistInput", {
  product_id: textUpTo(100),
  variant_id: variantId,
  note,
  customer_id: customerId,
});

export const WishlistReplacement = input("WishlistReplacement", { variant_id: variantId, note });
export type WishlistReplacement = Static<typeof WishlistReplacement>;

const WishlistProduct = output("WishlistProduct", {
  id: Type.String({ description: "`prod_…`" }),
  title: Type.String({ description: "Title in the requested language, if the product has one." }),
  slug: Type.String(),
  image: nullable(Type.String({ description: "URL of the first picture." })),
});

const minor = Type.Integer({ minimum: 0, description: "Amount in minor units of `currency`." });

export const WishlistItem = output("WishlistItem", {
  id: Type.String({ description: "`wish_…`" }),
  product_id: Type.String(),
  variant_id: nullable(Type.String()),
  note: nullable(Type.String()),
  price_at_add: Type.Number({ minimum: 0, description: "Price when the product or its variant was added." }),
  price_at_add_minor: minor,
  currency: Type.String({ description: "ISO 4217." }),
  product: nullable(WishlistProduct),
  price: nullable(Type.Number({ minimum: 0, description: "Current price; null if the product is not for sale." })),
  price_minor: nullable(minor),
  available: Type.Boolean({ description: "Whether the product can be ordered now." }),
  version: Type.Integer({ minimum: 1, description: "Increases by one with every write; sent as `ETag`." }),
  created_at: timestamp,
  updated_at: timestamp,
});

export const WishlistQuery = closed({ ...listParts, customer_id: customerId });
export type WishlistQuery = Static<typeof WishlistQuery>;
