import { isCheckViolation, isUniqueViolation } from "../../db/db-errors.ts";
import { AppError, conflict, fieldFault, invalidField } from "../../errors.ts";
import { mergedMetadataTooLarge } from "../../values/metadata.ts";
import { unknownPicture } from "./images.ts";
import { translationsTooLarge } from "./input.ts";

export const unknownCategory = "is not a category of this store";

/** The faults of a product or variant that cannot be ordered, or put on a wishlist. */
export const notForSale = {
  productId: "must be the id of a product, prod_…; only paths take slugs, too",
  product: "is not a published product of this store",
  variant: "is not a variant of a published product of this store",
} as const;

/** The conflict error for a value that must be unique. */
export function taken(field: string, cause?: unknown, message = "is taken by another product"): AppError {
  return fieldFault(conflict, field, message, cause);
}

/** Runs a write of products or variants. A violated constraint becomes the error of its field. */
export async function explainConflicts<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isCheckViolation(error, "products_metadata_size")) return invalidField("metadata", mergedMetadataTooLarge);
  if (["products", "categories"].some((table) => isCheckViolation(error, `${table}_translations_size`)))
    return invalidField("translations", translationsTooLarge);
  if (isCheckViolation(error, "known_pictures")) return invalidField("images", unknownPicture);
  // The category was deleted meanwhile.
  if (isCheckViolation(error, "products_categories")) return invalidField("category_ids", unknownCategory);
  if (isUniqueViolation(error, "products.slug")) return taken("slug", error);
  if (isUniqueViolation(error, "categories.slug")) return taken("slug", error, "is taken by another category");
  if (isUniqueViolation(error, "products.sku") || isUniqueViolation(error, "product_variants.sku")) {
    return taken("sku", error);
  }
  if (isUniqueViolation(error, "product_variants.options_key")) {
    return taken("options", error, "another variant of the product has the same options");
  }
  return error;
}
