import { isCheckViolation, isUniqueViolation } from "../../../db/db-errors.ts";
import { AppError, conflict, invalidField, notFound } from "../../../errors.ts";
import { isId } from "../../../values/ids.ts";
import { mergedMetadataTooLarge } from "../../../values/metadata.ts";

/** Spares the database what cannot be an id, and what it could not hold, such as NUL. Errors: notFound. */
export function requireProductId(id: string): void {
  if (!isId("prod", id)) throw noSuchProduct();
}

/** The notFound of a product that is not there, or not for this caller. */
export function noSuchProduct(): AppError {
  return notFound("product");
}

/** The conflict of a value that something else in the store has. */
export function taken(field: string, cause?: unknown, message = "is taken by another product"): AppError {
  return conflict(`${field}: ${message}.`, { details: [{ field, message }], cause });
}

/** What a constraint of the tables of products means to the caller; other errors as they are. */
export function explainConflict(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isCheckViolation(error, "products_metadata_size")) return invalidField("metadata", mergedMetadataTooLarge);
  if (isCheckViolation(error, "products_translations_size")) {
    return invalidField("translations", "would be larger than 512 KiB once merged");
  }
  if (isUniqueViolation(error, "products.slug")) return taken("slug", error);
  if (isUniqueViolation(error, "products.sku") || isUniqueViolation(error, "product_variants.sku")) {
    return taken("sku", error);
  }
  if (isUniqueViolation(error, "product_variants.options_key")) {
    return taken("options", error, "are those of another variant of the product");
  }
  return error;
}

/** Runs a write of products; what a constraint refuses is told in the words of the API. */
export async function explaining<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw explainConflict(error);
  }
}
