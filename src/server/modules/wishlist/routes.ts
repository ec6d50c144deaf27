import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, token } from "../../http/route.ts";
import { closed, output } from "../../values/schema.ts";
import { ProductParams } from "../catalogue/products/model.ts";
import { customerId, WishlistInput, WishlistItem, WishlistQuery, WishlistReplacement } from "./model.ts";
import { addToWishlist, getWishlistItem, listWishlist, putOnWishlist, removeFromWishlist } from "./service.ts";

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
    handle: ({ ctx, body: { customer_id, product_id, ...choice }, subject, lang }) =>
      addToWishlist(ctx, { product_id, customer_id, subject }, { ...choice, lang }),
  }),
  defineRoute("GET", "/wishlist/:product_id/", "getWishlistItem", {
    ...read,
    summary: "Get a product on a wishlist",
    params: WishlistParams,
    query: WishlistOwnerQuery,
    reply: { data: WishlistItem },
    handle: ({ ctx, params, query, subject, lang }) => getWishlistItem(ctx, { ...params, ...query, subject }, lang),
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
    handle: ({ ctx, params, query, body, subject, lang, ifMatch }) =>
      putOnWishlist(ctx, { ...params, ...query, subject }, { ...body, lang }, ifMatch),
  }),
  defineRoute("DELETE", "/wishlist/:product_id/", "removeFromWishlist", {
    ...write,
    summary: "Remove a product from a wishlist",
    params: WishlistParams,
    query: WishlistOwnerQuery,
    reply: { data: RemovedWishlistItem },
    conditional: true,
    handle: async ({ ctx, params, query, subject, ifMatch }) => {
      const removed = await removeFromWishlist(ctx, { ...params, ...query, subject }, ifMatch);
      return reply({ ...removed, deleted: true });
    },
  }),
];
