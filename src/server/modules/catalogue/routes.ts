import { type Static, Type } from "@sinclair/typebox";
import { app, defineRoute, reply, replyDeleted, staff, token } from "../../http/route.ts";
import { readCatalogueState } from "../events/service.ts";
import {
  Category,
  CategoryInput,
  CategoryListQuery,
  CategoryParams,
  CategoryPatch,
  DeletedCategory,
} from "./categories/model.ts";
import { createCategory, deleteCategory, getCategory, listCategories, updateCategory } from "./categories/service.ts";
import { listProducts } from "./list/list.ts";
import { ProductListQuery } from "./list/model.ts";
import {
  DeletedProduct,
  DeletedVariant,
  maxVariants,
  Product,
  ProductInput,
  ProductParams,
  ProductPatch,
  ProductReplacement,
  Variant,
  VariantInput,
  VariantParams,
} from "./products/model.ts";
import {
  createProduct,
  deleteProduct,
  getProduct,
  getProductState,
  patchProduct,
  replaceProduct,
} from "./products/service.ts";
import { addVariant, deleteVariant, getVariant, listVariants, patchVariant } from "./variants/variants.ts";

const read = { tag: "Products", access: [app("products:read"), app("catalog:read"), token] } as const;
const write = { tag: "Products", access: [app("products:write"), staff], errors: ["conflict"] } as const;
const changeProduct = { ...write, params: ProductParams, reply: { data: Product }, conditional: true } as const;
const changeVariant = { ...write, params: VariantParams, reply: { data: Variant }, conditional: true } as const;
const readCategory = { ...read, tag: "Categories" } as const;
const writeCategory = { ...write, tag: "Categories" } as const;
const changeCategory = {
  ...writeCategory,
  params: CategoryParams,
  reply: { data: Category },
  conditional: true,
} as const;

function idsOf({ id, variant_id }: Static<typeof VariantParams>) {
  return { productId: id, variantId: variant_id };
}

export const categoryRoutes = [
  defineRoute("GET", "/categories/", "listCategories", {
    ...readCategory,
    summary: "List categories",
    query: CategoryListQuery,
    reply: { data: Type.Array(Category), page: true },
    handle: ({ ctx, query, lang }) => listCategories(ctx, query, lang),
  }),
  defineRoute("GET", "/categories/:id/", "getCategory", {
    ...readCategory,
    summary: "Get a category",
    params: CategoryParams,
    reply: { data: Category },
    handle: ({ ctx, params, lang }) => getCategory(ctx, params.id, lang),
  }),
  defineRoute("POST", "/categories/", "createCategory", {
    ...writeCategory,
    summary: "Create a category",
    body: CategoryInput,
    reply: { status: 201, data: Category },
    errors: ["conflict", "wrongState"],
    handle: ({ ctx, body, lang }) => createCategory(ctx, body, lang),
  }),
  defineRoute("PATCH", "/categories/:id/", "patchCategory", {
    ...changeCategory,
    summary: "Change some fields of a category",
    body: CategoryPatch,
    handle: ({ ctx, params, body, ifMatch, lang }) => updateCategory(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("DELETE", "/categories/:id/", "deleteCategory", {
    ...changeCategory,
    summary: "Delete a category that has no products and no subcategories",
    reply: { data: DeletedCategory },
    errors: ["wrongState"],
    handle: async ({ ctx, params, ifMatch }) =>
      reply({ id: await deleteCategory(ctx, params.id, ifMatch), deleted: true }),
  }),
];

export const productRoutes = [
  defineRoute("GET", "/products/", "listProducts", {
    ...read,
    summary: "List products",
    query: ProductListQuery,
    reply: { data: Type.Array(Product), page: true },
    readEtagSource: ({ ctx }) => readCatalogueState(ctx),
    // Views change the order by popularity or views without an event. So a reply in that order must not be kept.
    mayKeep: ({ sort = "" }) => !/^-?(?:popular|views_count)$/.test(sort),
    handle: ({ ctx, query, lang }) => listProducts(ctx, query, lang),
  }),
  defineRoute("GET", "/products/:id/", "getProduct", {
    ...read,
    summary: "Get a product",
    params: ProductParams,
    reply: { data: Product },
    readEtagSource: ({ ctx, params }) => getProductState(ctx, params.id),
    mayKeep: () => true,
    handle: ({ ctx, params, lang }) => getProduct(ctx, params.id, lang),
  }),
  defineRoute("POST", "/products/", "createProduct", {
    ...write,
    summary: "Create a product",
    body: ProductInput,
    reply: { status: 201, data: Product },
    handle: ({ ctx, body, lang }) => createProduct(ctx, body, lang),
  }),
  defineRoute("PUT", "/products/:id/", "replaceProduct", {
    ...changeProduct,
    summary: "Replace a product",
    body: ProductReplacement,
    handle: ({ ctx, params, body, ifMatch, lang }) => replaceProduct(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("PATCH", "/products/:id/", "patchProduct", {
    ...changeProduct,
    summary: "Change some fields of a product",
    body: ProductPatch,
    handle: ({ ctx, params, body, ifMatch, lang }) => patchProduct(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("DELETE", "/products/:id/", "deleteProduct", {
    ...changeProduct,
    summary: "Delete a product",
    reply: { data: DeletedProduct },
    errors: [],
    handle: async ({ ctx, params, ifMatch }) =>
      reply({ id: await deleteProduct(ctx, params.id, ifMatch), deleted: true }),
  }),
];

export const variantRoutes = [
  defineRoute("GET", "/products/:id/variants/", "listVariants", {
    ...read,
    summary: "List a product's variants",
    params: ProductParams,
    reply: { data: Type.Array(Variant), page: true },
    handle: async ({ ctx, params }) => ({
      json: await listVariants(ctx, params.id),
      page: { next_cursor: null, has_more: false, limit: maxVariants },
    }),
  }),
  defineRoute("GET", "/products/:id/variants/:variant_id/", "getVariant", {
    ...read,
    summary: "Get a variant",
    params: VariantParams,
    reply: { data: Variant },
    handle: ({ ctx, params }) => getVariant(ctx, idsOf(params)),
  }),
  defineRoute("POST", "/products/:id/variants/", "addVariant", {
    ...write,
    summary: "Add a variant",
    params: ProductParams,
    body: VariantInput,
    reply: { status: 201, data: Variant },
    errors: ["conflict", "wrongState"],
    handle: ({ ctx, params, body }) => addVariant(ctx, params.id, body),
  }),
  defineRoute("PATCH", "/products/:id/variants/:variant_id/", "patchVariant", {
    ...changeVariant,
    summary: "Change some fields of a variant",
    body: VariantInput,
    handle: ({ ctx, params, body, ifMatch }) => patchVariant(ctx, idsOf(params), body, ifMatch),
  }),
  defineRoute("DELETE", "/products/:id/variants/:variant_id/", "deleteVariant", {
    ...changeVariant,
    summary: "Delete a variant",
    reply: { data: DeletedVariant },
    errors: [],
    handle: ({ ctx, params, ifMatch }) => replyDeleted(params.variant_id, deleteVariant(ctx, idsOf(params), ifMatch)),
  }),
];
