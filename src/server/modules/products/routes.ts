import { Type } from "@sinclair/typebox";
import { app, staff, token } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { listProducts } from "./list.ts";
import { DeletedProduct, Product, ProductInput, ProductListQuery, ProductParams, ProductPatch } from "./model.ts";
import { createProduct, deleteProduct, getProduct, patchProduct, replaceProduct } from "./service.ts";

const tag = "Products";
const readers = [app("products:read"), token] as const;
const writers = [app("products:write"), staff] as const;

/** The product endpoints (specification, section 4). */
export const productRoutes = [
  defineRoute({
    method: "GET",
    path: "/products/",
    id: "listProducts",
    tag,
    summary: "List products",
    access: readers,
    query: ProductListQuery,
    reply: { data: Type.Array(Product), page: true },
    errors: [5100],
    handle: async ({ ctx, query }) => {
      const { json, nextCursor, limit } = await listProducts(ctx, query);
      return { json, page: { next_cursor: nextCursor, has_more: nextCursor !== null, limit } };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/products/:id/",
    id: "getProduct",
    tag,
    summary: "Get a product",
    access: readers,
    params: ProductParams,
    reply: { data: Product },
    errors: [5301],
    handle: ({ ctx, params }) => getProduct(ctx, params.id),
  }),
  defineRoute({
    method: "POST",
    path: "/products/",
    id: "createProduct",
    tag,
    summary: "Create a product",
    access: writers,
    body: ProductInput,
    reply: { status: 201, data: Product },
    errors: [5302],
    handle: ({ ctx, body, lang }) => createProduct(ctx, body, lang),
  }),
  defineRoute({
    method: "PUT",
    path: "/products/:id/",
    id: "replaceProduct",
    tag,
    summary: "Replace a product",
    access: writers,
    params: ProductParams,
    body: ProductInput,
    reply: { data: Product },
    errors: [5301, 5302],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch }) => replaceProduct(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: "PATCH",
    path: "/products/:id/",
    id: "patchProduct",
    tag,
    summary: "Change some fields of a product",
    access: writers,
    params: ProductParams,
    body: ProductPatch,
    reply: { data: Product },
    errors: [5301, 5302],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch }) => patchProduct(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: "DELETE",
    path: "/products/:id/",
    id: "deleteProduct",
    tag,
    summary: "Delete a product",
    access: writers,
    params: ProductParams,
    reply: { data: DeletedProduct },
    errors: [5301],
    conditional: true,
    handle: async ({ ctx, params, ifMatch }) => {
      await deleteProduct(ctx, params.id, ifMatch);
      return reply({ id: params.id, deleted: true });
    },
  }),
];
