import { Type } from "@sinclair/typebox";
import { reply, replyFields } from "../../../http/envelope.ts";
import { app, defineRoute, staff, token } from "../../../http/route.ts";
import { FieldsQuery } from "../../../pagination/list-query.ts";
import { readCatalogueState } from "../../events/service.ts";
import { listProducts } from "../list/list.ts";
import { ProductListQuery, readableFields } from "../list/model.ts";
import { ProductParams } from "../variants/variant-model.ts";
import { DeletedProduct, Product, ProductInput, ProductPatch, ProductReplacement } from "./model.ts";
import { createProduct, deleteProduct, getProduct, getProductState, patchProduct, replaceProduct } from "./service.ts";

const tag = "Products";
const read = { tag, access: [app("products:read"), app("catalog:read"), token] } as const;
const write = { tag, access: [app("products:write"), staff], errors: ["conflict"] } as const;
const change = { ...write, params: ProductParams, reply: { data: Product }, conditional: true } as const;

export const productRoutes = [
  defineRoute("GET", "/products/", "listProducts", {
    ...read,
    summary: "List products",
    query: ProductListQuery,
    reply: { data: Type.Array(Product), page: true },
    readEtagSource: ({ ctx }) => readCatalogueState(ctx),
    handle: ({ ctx, query, lang }) => listProducts(ctx, query, lang),
  }),
  defineRoute("GET", "/products/:id/", "getProduct", {
    ...read,
    summary: "Get a product",
    params: ProductParams,
    query: FieldsQuery,
    reply: { data: Product },
    readEtagSource: ({ ctx, params }) => getProductState(ctx, params.id),
    handle: ({ ctx, params, query, lang }) =>
      replyFields(query.fields, readableFields(ctx), () => getProduct(ctx, params.id, lang)),
  }),
  defineRoute("POST", "/products/", "createProduct", {
    ...write,
    summary: "Create a product",
    body: ProductInput,
    reply: { status: 201, data: Product },
    handle: ({ ctx, body, lang }) => createProduct(ctx, body, lang),
  }),
  defineRoute("PUT", "/products/:id/", "replaceProduct", {
    ...change,
    summary: "Replace a product",
    body: ProductReplacement,
    handle: ({ ctx, params, body, ifMatch, lang }) => replaceProduct(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("PATCH", "/products/:id/", "patchProduct", {
    ...change,
    summary: "Change some fields of a product",
    body: ProductPatch,
    handle: ({ ctx, params, body, ifMatch, lang }) => patchProduct(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("DELETE", "/products/:id/", "deleteProduct", {
    ...change,
    summary: "Delete a product",
    reply: { data: DeletedProduct },
    errors: [],
    handle: async ({ ctx, params, ifMatch }) =>
      reply({ id: await deleteProduct(ctx, params.id, ifMatch), deleted: true }),
  }),
];
