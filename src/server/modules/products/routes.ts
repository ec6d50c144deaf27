import { Type } from "@sinclair/typebox";
import { app, staff, token } from "../../http/access.ts";
import { reply } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { parseFields, pickFields } from "../../pagination/list-query.ts";
import { listProducts } from "./list/list.ts";
import { ProductListQuery, ProductQuery, productFields } from "./list/model.ts";
import { DeletedProduct, Product, ProductInput, ProductParams, ProductPatch, ProductReplacement } from "./model.ts";
import { createProduct, deleteProduct, getProduct, patchProduct, replaceProduct } from "./service.ts";

const tag = "Products";
const readers = [app("products:read"), token] as const;
const writers = [app("products:write"), staff] as const;

/** The product endpoints (specification, section 4). */
export const productRoutes = [
  defineRoute("GET", "/products/", "listProducts", {
    tag,
    summary: "List products",
    access: readers,
    query: ProductListQuery,
    reply: { data: Type.Array(Product), page: true },
    errors: ["malformedRequest"],
    handle: ({ ctx, query, lang }) => listProducts(ctx, query, lang),
  }),
  defineRoute("GET", "/products/:id/", "getProduct", {
    tag,
    summary: "Get a product",
    access: readers,
    params: ProductParams,
    query: ProductQuery,
    reply: { data: Product },
    errors: ["notFound"],
    handle: ({ ctx, params, query, lang }) => {
      if (query.fields === undefined) return getProduct(ctx, params.id, lang);
      const fields = parseFields(query.fields, productFields);
      return getProduct(ctx, params.id, lang).then(({ json, ...rest }) => ({
        ...rest,
        json: pickFields(json, fields),
      }));
    },
  }),
  defineRoute("POST", "/products/", "createProduct", {
    tag,
    summary: "Create a product",
    access: writers,
    body: ProductInput,
    reply: { status: 201, data: Product },
    errors: ["conflict"],
    handle: ({ ctx, body, lang }) => createProduct(ctx, body, lang),
  }),
  defineRoute("PUT", "/products/:id/", "replaceProduct", {
    tag,
    summary: "Replace a product",
    access: writers,
    params: ProductParams,
    body: ProductReplacement,
    reply: { data: Product },
    errors: ["notFound", "conflict"],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch, lang }) => replaceProduct(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("PATCH", "/products/:id/", "patchProduct", {
    tag,
    summary: "Change some fields of a product",
    access: writers,
    params: ProductParams,
    body: ProductPatch,
    reply: { data: Product },
    errors: ["notFound", "conflict"],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch, lang }) => patchProduct(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("DELETE", "/products/:id/", "deleteProduct", {
    tag,
    summary: "Delete a product",
    access: writers,
    params: ProductParams,
    reply: { data: DeletedProduct },
    errors: ["notFound"],
    conditional: true,
    handle: async ({ ctx, params, ifMatch }) => {
      await deleteProduct(ctx, params.id, ifMatch);
      return reply({ id: params.id, deleted: true });
    },
  }),
];
