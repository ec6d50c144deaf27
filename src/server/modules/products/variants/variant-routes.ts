import { type Static, Type } from "@sinclair/typebox";
import { app, staff, token } from "../../../http/access.ts";
import { reply } from "../../../http/envelope.ts";
import { defineRoute } from "../../../http/route.ts";
import { ProductParams } from "../model.ts";
import { maxVariants } from "./variant-insert.ts";
import { DeletedVariant, Variant, VariantInput, VariantParams, VariantPatch } from "./variant-model.ts";
import { addVariant, deleteVariant, getVariant, listVariants, patchVariant, replaceVariant } from "./variants.ts";

const tag = "Products";
const readers = [app("products:read"), token] as const;
const writers = [app("products:write"), staff] as const;

function idsOf({ id, variant_id }: Static<typeof VariantParams>) {
  return { productId: id, variantId: variant_id };
}

/** The endpoints of variants. */
export const variantRoutes = [
  defineRoute("GET", "/products/:id/variants/", "listVariants", {
    tag,
    summary: "List a product's variants",
    access: readers,
    params: ProductParams,
    reply: { data: Type.Array(Variant), page: true },
    errors: ["notFound"],
    handle: async ({ ctx, params }) => ({
      json: await listVariants(ctx, params.id),
      page: { next_cursor: null, has_more: false, limit: maxVariants },
    }),
  }),
  defineRoute("GET", "/products/:id/variants/:variant_id/", "getVariant", {
    tag,
    summary: "Get a variant",
    access: readers,
    params: VariantParams,
    reply: { data: Variant },
    errors: ["notFound"],
    handle: ({ ctx, params }) => getVariant(ctx, idsOf(params)),
  }),
  defineRoute("POST", "/products/:id/variants/", "addVariant", {
    tag,
    summary: "Add a variant",
    access: writers,
    params: ProductParams,
    body: VariantInput,
    reply: { status: 201, data: Variant },
    errors: ["notFound", "conflict", "wrongState"],
    handle: ({ ctx, params, body }) => addVariant(ctx, params.id, body),
  }),
  defineRoute("PUT", "/products/:id/variants/:variant_id/", "replaceVariant", {
    tag,
    summary: "Replace a variant",
    access: writers,
    params: VariantParams,
    body: VariantInput,
    reply: { data: Variant },
    errors: ["notFound", "conflict"],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch }) => replaceVariant(ctx, idsOf(params), body, ifMatch),
  }),
  defineRoute("PATCH", "/products/:id/variants/:variant_id/", "patchVariant", {
    tag,
    summary: "Change some fields of a variant",
    access: writers,
    params: VariantParams,
    body: VariantPatch,
    reply: { data: Variant },
    errors: ["notFound", "conflict"],
    conditional: true,
    handle: ({ ctx, params, body, ifMatch }) => patchVariant(ctx, idsOf(params), body, ifMatch),
  }),
  defineRoute("DELETE", "/products/:id/variants/:variant_id/", "deleteVariant", {
    tag,
    summary: "Delete a variant",
    access: writers,
    params: VariantParams,
    reply: { data: DeletedVariant },
    errors: ["notFound"],
    conditional: true,
    handle: async ({ ctx, params, ifMatch }) => {
      await deleteVariant(ctx, idsOf(params), ifMatch);
      return reply({ id: params.variant_id, deleted: true });
    },
  }),
];
