import { Type } from "@sinclair/typebox";
import { app, token } from "../../http/access.ts";
import { pageReply, reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { parseFields, pickFields } from "../../pagination/list-query.ts";
import { itemFields, listWishlist } from "./list.ts";
import {
  RemovedWishlistItem,
  WishlistInput,
  WishlistItem,
  WishlistItemQuery,
  WishlistOwnerQuery,
  WishlistParams,
  WishlistQuery,
  WishlistReplacement,
} from "./model.ts";
import { addToWishlist, getWishlistItem, putOnWishlist, removeFromWishlist } from "./service.ts";

const tag = "Wishlist";
const readers = [app("wishlist:read"), token] as const;
const writers = [app("wishlist:write"), token] as const;

/** The wishlist endpoints (design, section 4). */
export const wishlistRoutes = [
  defineRoute({
    method: "GET",
    path: "/wishlist/",
    id: "listWishlist",
    tag,
    summary: "List a user's wishlist",
    access: readers,
    query: WishlistQuery,
    reply: { data: Type.Array(WishlistItem), page: true },
    errors: ["malformedRequest", "notFound"],
    handle: async ({ ctx, query, subject, lang }) => pageReply(await listWishlist(ctx, query, subject, lang)),
  }),
  defineRoute({
    method: "POST",
    path: "/wishlist/",
    id: "addToWishlist",
    tag,
    summary: "Put a product on a wishlist, unless it is there",
    access: writers,
    body: WishlistInput,
    reply: { status: 201, data: WishlistItem, existing: "The product was there already." },
    errors: ["notFound", "wrongState"],
    handle: async ({ ctx, body: { customer_id, ...choice }, subject, lang }) => {
      const { isNew, ...item } = await addToWishlist(ctx, { customerId: customer_id, subject }, { ...choice, lang });
      return { ...item, status: isNew ? 201 : 200 };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/wishlist/:product_id/",
    id: "getWishlistItem",
    tag,
    summary: "Get a product of a wishlist",
    access: readers,
    params: WishlistParams,
    query: WishlistItemQuery,
    reply: { data: WishlistItem },
    errors: ["notFound"],
    handle: async ({ ctx, params, query, subject, lang }) => {
      const fields = parseFields(query.fields, itemFields);
      const whose = { customerId: query.customer_id, subject };
      const { json, version } = await getWishlistItem(ctx, whose, params.product_id, lang);
      return { json: pickFields(json, fields), version };
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/wishlist/:product_id/",
    id: "putOnWishlist",
    tag,
    summary: "Set what a wishlist says of a product",
    access: writers,
    params: WishlistParams,
    query: WishlistOwnerQuery,
    body: WishlistReplacement,
    reply: { status: 201, data: WishlistItem, existing: "The product was there, and has been changed." },
    errors: ["notFound", "wrongState"],
    conditional: true,
    handle: async ({ ctx, params, query, body, subject, lang, ifMatch }) => {
      const whose = { customerId: query.customer_id, subject };
      const { isNew, ...item } = await putOnWishlist(ctx, whose, params.product_id, { ...body, lang }, ifMatch);
      return { ...item, status: isNew ? 201 : 200 };
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/wishlist/:product_id/",
    id: "removeFromWishlist",
    tag,
    summary: "Take a product off a wishlist",
    access: writers,
    params: WishlistParams,
    query: WishlistOwnerQuery,
    reply: { data: RemovedWishlistItem },
    errors: ["notFound"],
    conditional: true,
    handle: async ({ ctx, params, query, subject, ifMatch }) => {
      const whose = { customerId: query.customer_id, subject };
      const id = await removeFromWishlist(ctx, whose, params.product_id, ifMatch);
      return reply({ id, product_id: params.product_id, deleted: true });
    },
  }),
];
