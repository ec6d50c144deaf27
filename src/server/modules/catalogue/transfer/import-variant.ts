import type { Static } from "@sinclair/typebox";
import type { Ctx } from "../../../context.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { validate } from "../../../values/validate.ts";
import { parseLanguage } from "../../tenants/input.ts";
import { normalizeSku } from "../products/input.ts";
import { type Product, type Variant, VariantInput } from "../products/model.ts";
import { beginBatch, endBatch } from "../variants/variant-input.ts";
import { addVariant, patchVariant } from "../variants/variants.ts";
import { type Fields, type ImportItem, isObject } from "./import-item.ts";

/** The JSON of a product, and its own SKU, which the JSON of a product with variants omits. */
export type ExistingProduct = Fields & Static<typeof Product> & { ownSku: string | null };
type ExistingVariant = Fields & Static<typeof Variant>;

/** Returns a variant of a file as input for a new product. Errors: validationFailed for another currency. */
export function newVariant(tx: Ctx, document: Fields, index: number, productPrice: unknown): Fields {
  const prefix = `variants.${index}.`;
  const { fields, currency = tx.tenant.currency } = readVariant(document, [productPrice], prefix);
  if (currency === tx.tenant.currency) return fields;
  throw invalidField(`${prefix}currency`, `must be ${tx.tenant.currency}, the store's currency`);
}

/** Writes an item's variants. Returns the changed fields: `variant_price`, or `variants` for a new variant. */
export async function importVariants(tx: Ctx, product: ExistingProduct, item: ImportItem): Promise<Set<string>> {
  const changed = new Set<string>();
  if (item.variants.length === 0) return changed;
  await tx.db.execute(beginBatch);
  for (const index of item.variants.keys()) {
    const names = await importVariant(tx, product, item, index).catch((error) => throwAt(index, error));
    for (const name of names) changed.add(name);
  }
  await tx.db.execute(endBatch);
  return changed;
}

async function importVariant(tx: Ctx, product: ExistingProduct, item: ImportItem, index: number): Promise<string[]> {
  const fields = normalize(item.variants[index]?.document ?? {});
  const existing = findVariant(product.variants, fields);
  if (!existing) {
    if (fields.id != null) throw invalidField("id", "is not a variant of this product. Omit the id to add one");
    const input = newVariant(tx, fields, index, item.document.price);
    await addVariant(tx, product.id, validate(VariantInput, input, "row"));
    return ["variants"];
  }
  const changes = variantChanges(tx, existing, fields, item);
  const names = Object.keys(changes);
  if (names.length === 0) return [];
  const patch = validate(VariantInput, changes, "row");
  await patchVariant(tx, { productId: product.id, variantId: existing.id }, patch, null);
  return names.map((name) => `variant_${name}`);
}

function variantChanges(tx: Ctx, existing: ExistingVariant, document: Fields, item: ImportItem): Fields {
  const { fields, currency } = readVariant(document, [item.document.price, existing.price]);
  // A price that the file gives becomes the variant's own, even if it equals the product's price.
  const before = existing.has_own_price ? existing : { ...existing, price: null, compare_at_price: null };
  const changes = findChanges(before, fields, item.isCsv);
  const isPriced = "price" in changes || "compare_at_price" in changes;
  const needed = isPriced ? tx.tenant.currency : existing.currency;
  if (currency !== undefined && currency !== needed) throw invalidField("currency", `must be ${needed}`);
  return changes;
}

/** Separates fields and currency. If `has_own_price` is false and `known` has the price, the price becomes null. */
function readVariant({ id: _, currency, has_own_price: isOwn, ...fields }: Fields, known: unknown[], prefix = "") {
  if (isOwn !== undefined && typeof isOwn !== "boolean")
    throw invalidField(`${prefix}has_own_price`, "must be true or false");
  const { price = null, compare_at_price: __, ...others } = fields;
  const isFollowing = isOwn === false && (price === null || known.includes(price));
  return isFollowing ? { fields: { ...others, price: null } } : { fields, currency };
}

function findVariant(variants: ExistingVariant[], { id, sku, options }: Fields): ExistingVariant | undefined {
  if (id != null) return variants.find((variant) => variant.id === id);
  const found = typeof sku === "string" ? variants.find((variant) => variant.sku === sku) : undefined;
  if (found || (options === undefined && typeof sku === "string")) return found;
  // A document without options means the variant without options, of which a product has at most one.
  return variants.find((variant) => Bun.deepEquals(variant.options, options ?? {}, true));
}

function throwAt(index: number, error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const given = error.details ?? [{ field: "row", message: error.message }];
  const details = given.map(({ field, message }) => ({
    field: field === "row" ? `variants.${index}` : field.startsWith("variants.") ? field : `variants.${index}.${field}`,
    message,
  }));
  throw new AppError(error.kind, error.message, { details, cause: error });
}

export function findChanges(existing: Fields, given: Fields, isCsv: boolean): Fields {
  const isChanged = ([name, value]: [string, unknown]) => {
    const before = existing[name];
    if (value === undefined || Bun.deepEquals(before, value, true) || (isCsv && value === null && before === ""))
      return false;
    if (name === "images") return !Bun.deepEquals(comparable(before), comparable(value), true);
    // Numbers in stored metadata have the digits of a double, so the given numbers are rounded in the same way.
    return name !== "metadata" || !Bun.deepEquals(before, JSON.parse(JSON.stringify(value)), true);
  };
  return Object.fromEntries(Object.entries(given).filter(isChanged));
}

function comparable(images: unknown): unknown {
  if (!Array.isArray(images)) return images;
  const placed = images.map((image, index) => {
    const { media_id, url, alt = "", position = index, width: _, height: __, ...rest } = isObject(image) ? image : {};
    return { place: Number(position), image: { ...(media_id === undefined ? { url } : { media_id }), alt, ...rest } };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ image }) => image);
}

/** Converts fields to their stored form, so that a comparison finds equal values. */
export function normalize({ ...fields }: Fields): Fields {
  const { sku, slug, translations, options } = fields;
  const nfc = (text: unknown) => (typeof text === "string" ? text.normalize("NFC") : text);
  if (typeof sku === "string") fields.sku = normalizeSku(sku);
  if (slug !== undefined) fields.slug = nfc(slug);
  if (isObject(options)) {
    fields.options = Object.fromEntries(Object.entries(options).map(([name, value]) => [nfc(name), nfc(value)]));
  }
  if (isObject(translations)) {
    const entries = Object.entries(translations);
    const tags = new Set(entries.map(([name]) => parseLanguage(`translations.${name.slice(0, 64)}`, name)));
    // Two names of one language stay as they are, so that validation reports them.
    if (tags.size === entries.length) {
      fields.translations = Object.fromEntries([...tags].map((tag, index) => [tag, entries[index]?.[1]]));
    }
  }
  return fields;
}
