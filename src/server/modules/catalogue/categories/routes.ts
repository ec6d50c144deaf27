import { Type } from "@sinclair/typebox";
import { reply, replyFields } from "../../../http/envelope.ts";
import { app, defineRoute, staff, token } from "../../../http/route.ts";
import { FieldsQuery } from "../../../pagination/list-query.ts";
import {
  Category,
  CategoryInput,
  CategoryListQuery,
  CategoryParams,
  CategoryPatch,
  categoryFields,
  DeletedCategory,
} from "./model.ts";
import { createCategory, deleteCategory, getCategory, listCategories, updateCategory } from "./service.ts";

const tag = "Categories";
const read = { tag, access: [app("products:read"), app("catalog:read"), token] } as const;
const write = { tag, access: [app("products:write"), staff] } as const;
const change = {
  ...write,
  params: CategoryParams,
  reply: { data: Category },
  errors: ["conflict"],
  conditional: true,
} as const;

export const categoryRoutes = [
  defineRoute("GET", "/categories/", "listCategories", {
    ...read,
    summary: "List categories",
    query: CategoryListQuery,
    reply: { data: Type.Array(Category), page: true },
    handle: ({ ctx, query, lang }) => listCategories(ctx, query, lang),
  }),
  defineRoute("GET", "/categories/:id/", "getCategory", {
    ...read,
    summary: "Get a category",
    params: CategoryParams,
    query: FieldsQuery,
    reply: { data: Category },
    handle: ({ ctx, params, query, lang }) =>
      replyFields(query.fields, categoryFields, () => getCategory(ctx, params.id, lang)),
  }),
  defineRoute("POST", "/categories/", "createCategory", {
    ...write,
    summary: "Create a category",
    body: CategoryInput,
    reply: { status: 201, data: Category },
    errors: ["conflict", "wrongState"],
    handle: ({ ctx, body, lang }) => createCategory(ctx, body, lang),
  }),
  defineRoute("PATCH", "/categories/:id/", "patchCategory", {
    ...change,
    summary: "Change some fields of a category",
    body: CategoryPatch,
    handle: ({ ctx, params, body, ifMatch, lang }) => updateCategory(ctx, params.id, body, { ifMatch, lang }),
  }),
  defineRoute("DELETE", "/categories/:id/", "deleteCategory", {
    ...change,
    summary: "Delete a category without products and categories below it",
    reply: { data: DeletedCategory },
    errors: ["wrongState"],
    handle: async ({ ctx, params, ifMatch }) =>
      reply({ id: await deleteCategory(ctx, params.id, ifMatch), deleted: true }),
  }),
];
