import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, token } from "../../http/route.ts";
import { closed, output } from "../../values/schema.ts";
import { ProductParams } from "../catalogue/products/model.ts";
import { customerId, WishlistInput, WishlistItem, WishlistQuery, WishlistReplacement } from "./model.ts";
import {
  addToWishlist,
  getWishlistItem,
  type ItemKey,
  listWishlist,
  putOnWishlist,
  removeFromWishlist,
} from "./service.ts";

const tag = "Wishlist";
const read = { tag, access: [app("wishlist:read"), token] } as const;
const write = { tag, access: [app("wishlist:write"), token] } as const;

const WishlistParams = Type.Object({ product_id: ProductParams.properties.id });
const WishlistOwnerQuery = closed({ customer_id: customerId });
const RemovedWishlistItem = output("RemovedWishlistItem", {
  id: Type.String(),
  product_id: Type.String(),
  deleted: Type.Literal(true),
});

function keyOf(params: { product_id: string }, query: { customer_id?: string }, subject: string | undefined): ItemKey {
  return { product: params.product_id, customerId: query.customer_id, subject };
}

export const wishlistRoutes = [
  defineRoute("GET", "/wishlist/", "listWishlist", {
    ...read,
    summary: "List a user's wishlist",
    query: WishlistQuery,
    reply: { data: Type.Array(WishlistItem), page: true },
    errors: ["notFound"],
    handle: ({ ctx, query, subject, lang }) => listWishlist(ctx, query, subject, lang),
  }),
  defineRoute("POST", "/wishlist/", "addToWishlist", {
    ...write,
    summary: "Add a product to a wishlist",
    body: WishlistInput,
    reply: { status: 201, data: WishlistItem, existing: "The product was already on the list." },
    errors: ["notFound", "wrongState"],
    handle: async ({ ctx, body: { customer_id, ...choice }, subject, lang }) => {
      const { isNew, ...item } = await addToWishlist(ctx, { customerId: customer_id, subject }, { ...choice, lang });
      return { ...item, status: isNew ? 201 : 200 };
    },
  }),
  defineRoute("GET", "/wishlist/:product_id/", "getWishlistItem", {
    ...read,
    summary: "Get a product on a wishlist",
    params: WishlistParams,
    query: WishlistOwnerQuery,
    reply: { data: WishlistItem },
    handle: ({ ctx, params, query, subject, lang }) => getWishlistItem(ctx, keyOf(params, query, subject), lang),
  }),
  defineRoute("PUT", "/wishlist/:product_id/", "putOnWishlist", {
    ...write,
    summary: "Set the variant and note of a product on a wishlist",
    params: WishlistParams,
    query: WishlistOwnerQuery,
    body: WishlistReplacement,
    reply: { status: 201, data: WishlistItem, existing: "The product was on the list and has been changed." },
    errors: ["wrongState"],
    conditional: true,
    handle: async ({ ctx, params, query, body, subject, lang, ifMatch }) => {
      const key = keyOf(params, query, subject);
      const { isNew, ...item } = await putOnWishlist(ctx, key, { ...body, lang }, ifMatch);
      return { ...item, status: isNew ? 201 : 200 };
    },
  }),
  defineRoute("DELETE", "/wishlist/:product_id/", "removeFromWishlist", {
    ...write,
    summary: "Remove a product from a wishlist",
    params: WishlistParams,
    query: WishlistOwnerQuery,
    reply: { data: RemovedWishlistItem },
    conditional: true,
    handle: async ({ ctx, params, query, subject, ifMatch }) => {
      const removed = await removeFromWishlist(ctx, keyOf(params, query, subject), ifMatch);
      return reply({ ...removed, deleted: true });
    },
  }),
];
