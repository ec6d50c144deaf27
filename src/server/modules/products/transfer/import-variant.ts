import type { Ctx } from "../../../context.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { validate } from "../../../values/validate.ts";
import { keptSku } from "../input.ts";
import { VariantInput, VariantPatch } from "../variants/variant-model.ts";
import { addVariant, patchVariant } from "../variants/variants.ts";
import { findChanges, isSame } from "./import-changes.ts";
import type { ImportItem } from "./import-item.ts";

type Fields = Record<string, unknown>;
/** A variant as it stands, as far as an import looks at it. */
export type StandingVariant = Fields & {
  id: string;
  sku: string | null;
  options: Fields;
  currency: string;
  has_own_price: boolean;
};

/**
 * A variant of a file as the variant of a new product; it gets an id of its own.
 * @param productPrice what the file says that its product costs.
 * @throws validationFailed for another currency than the store's.
 */
export function newVariant(tx: Ctx, document: Fields, index: number, productPrice: unknown): Fields {
  const { id: _, currency, has_own_price: __, ...fields } = document;
  if (isInherited(document, [productPrice], `variants.${index}.`)) return withoutPrice(fields);
  if (currency !== undefined && currency !== tx.tenant.currency) {
    throw invalidField(`variants.${index}.currency`, `must be ${tx.tenant.currency}, as prices are in this store`);
  }
  return fields;
}

/**
 * Adds and changes the variants that a file names, each the one of its id, else SKU, else options; the others stay.
 * @returns whether anything was changed.
 * @throws AppError as adding and changing a variant do, with fields such as `variants.0.price`.
 */
export async function importVariants(
  tx: Ctx,
  product: { id: string; variants: StandingVariant[] },
  item: ImportItem,
): Promise<boolean> {
  let isChanged = false;
  for (const [index, { document }] of item.variants.entries()) {
    const fields = canonical(document);
    const productPrice = item.document.price;
    const standing = findVariant(product.variants, fields);
    try {
      const did = standing
        ? await changeVariant(tx, product.id, standing, fields, { productPrice, isTable: item.isTable })
        : await makeVariant(tx, product.id, newVariant(tx, fields, index, productPrice), fields.id);
      isChanged ||= did;
    } catch (error) {
      throw placed(error, index);
    }
  }
  return isChanged;
}

async function makeVariant(tx: Ctx, productId: string, fields: Fields, id: unknown): Promise<boolean> {
  if (id !== undefined && id !== null) {
    throw invalidField("id", "names no variant of this product; leave it out to add one");
  }
  await addVariant(tx, productId, validate(VariantInput, fields, "row"));
  return true;
}

async function changeVariant(
  tx: Ctx,
  productId: string,
  standing: StandingVariant,
  document: Fields,
  { productPrice, isTable }: { productPrice: unknown; isTable: boolean },
): Promise<boolean> {
  const { id: _, currency, has_own_price: __, ...fields } = document;
  const inherits = isInherited(document, [productPrice, standing.price]);
  const changes = findChanges(standing, inherits ? withoutPrice(fields) : fields, isTable);
  if (inherits && standing.has_own_price) changes.price = null;
  if (!inherits && !standing.has_own_price) {
    // A price that is given is its own from now on, also where it is the product's of today.
    const { price, compare_at_price } = fields;
    const isOwn = price !== undefined && price !== null;
    if (isOwn) Object.assign(changes, { price }, compare_at_price !== undefined && { compare_at_price });
    // Null says what stands; an export as a table leaves both cells empty.
    else for (const name of ["price", "compare_at_price"]) if (changes[name] === null) delete changes[name];
  }
  const isPriced = "price" in changes || "compare_at_price" in changes;
  const needed = isPriced ? tx.tenant.currency : standing.currency;
  if (!inherits && currency !== undefined && currency !== needed) throw invalidField("currency", `must be ${needed}`);
  if (Object.keys(changes).length === 0) return false;
  await patchVariant(tx, productId, standing.id, validate(VariantPatch, changes, "row"), null);
  return true;
}

/**
 * Whether the price that a document shows is the product's: it says so, and shows one that the product or the variant has
 * or had. Another one has been written over it, and is meant.
 */
function isInherited({ has_own_price: isOwn, price }: Fields, known: unknown[], prefix = ""): boolean {
  if (isOwn !== undefined && typeof isOwn !== "boolean")
    throw invalidField(`${prefix}has_own_price`, "must be true or false");
  return isOwn === false && (price === undefined || price === null || known.includes(price));
}

function withoutPrice({ price: _, compare_at_price: __, ...fields }: Fields): Fields {
  return fields;
}

function findVariant(variants: StandingVariant[], { id, sku, options }: Fields): StandingVariant | undefined {
  if (id !== undefined && id !== null) return variants.find((variant) => variant.id === id);
  if (typeof sku === "string") {
    const found = variants.find((variant) => variant.sku === sku);
    if (found) return found;
  }
  return options === undefined ? undefined : variants.find((variant) => isSame(variant.options, options));
}

/** SKU and options in the form in which they are kept, so that what stands already is seen to. */
function canonical(document: Fields): Fields {
  const fields = { ...document };
  const { sku, options } = fields;
  if (typeof sku === "string") fields.sku = keptSku(sku);
  if (typeof options === "object" && options !== null && !Array.isArray(options)) {
    const compose = (text: unknown) => (typeof text === "string" ? text.normalize("NFC") : text);
    fields.options = Object.fromEntries(
      Object.entries(options).map(([name, value]) => [compose(name), compose(value)]),
    );
  }
  return fields;
}

/** The error of one variant, with its place before the names of its fields. */
function placed(error: unknown, index: number): unknown {
  if (!(error instanceof AppError) || error.kind === "internalError" || error.kind === "unavailable") return error;
  const given = error.details ?? [{ field: "row", message: error.message }];
  const details = given.map(({ field, message }) => ({
    field: field === "row" ? `variants.${index}` : field.startsWith("variants.") ? field : `variants.${index}.${field}`,
    message,
  }));
  return new AppError(error.kind, error.message, { details, cause: error });
}
