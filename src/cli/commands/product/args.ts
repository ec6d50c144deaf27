import type { FlagArg, PositionalArg } from "../../framework/args.ts";

/** The product that a command works on. */
export const productArg = {
  type: "positional",
  required: true,
  completes: "product",
  description: "Id, slug or SKU of the product, or SKU of one of its variants",
} as const satisfies PositionalArg;

export const productStatusArg = {
  type: "enum",
  options: ["draft", "published", "archived"],
  description: "Filter by status",
} as const satisfies FlagArg;
