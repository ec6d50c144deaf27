import { type Static, Type } from "@sinclair/typebox";
import { replyDeleted } from "../../../http/envelope.ts";
import { app, defineRoute, staff, token } from "../../../http/route.ts";
import { maxVariants } from "./variant-input.ts";
import { DeletedVariant, ProductParams, Variant, VariantInput, VariantParams } from "./variant-model.ts";
import { addVariant, deleteVariant, getVariant, listVariants, patchVariant, replaceVariant } from "./variants.ts";

const tag = "Products";
const read = { tag, access: [app("products:read"), app("catalog:read"), token] } as const;
const write = { tag, access: [app("products:write"), staff] } as const;
const change = {
  ...write,
  params: VariantParams,
  reply: { data: Variant },
  errors: ["conflict"],
  conditional: true,
} as const;

function idsOf({ id, variant_id }: Static<typeof VariantParams>) {
  return { productId: id, variantId: variant_id };
}

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
  defineRoute("PUT", "/products/:id/variants/:variant_id/", "replaceVariant", {
    ...change,
    summary: "Replace a variant",
    body: VariantInput,
    handle: ({ ctx, params, body, ifMatch }) => replaceVariant(ctx, idsOf(params), body, ifMatch),
  }),
  defineRoute("PATCH", "/products/:id/variants/:variant_id/", "patchVariant", {
    ...change,
    summary: "Change some fields of a variant",
    body: VariantInput,
    handle: ({ ctx, params, body, ifMatch }) => patchVariant(ctx, idsOf(params), body, ifMatch),
  }),
  defineRoute("DELETE", "/products/:id/variants/:variant_id/", "deleteVariant", {
    ...change,
    summary: "Delete a variant",
    reply: { data: DeletedVariant },
    errors: [],
    handle: ({ ctx, params, ifMatch }) => replyDeleted(params.variant_id, deleteVariant(ctx, idsOf(params), ifMatch)),
  }),
];
