import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { invalidField } from "../../../errors.ts";
import { metadataText, requireSafeText, requireText, requireWhole } from "../../../values/fields.ts";
import { parseMoney } from "../../../values/money.ts";
import { requireTaxClass } from "../../taxes/model.ts";
import { currencyDigits, parseLanguage } from "../../tenants/input.ts";
import { imagesText } from "./images.ts";
import { maxStock, maxTitle, maxWeight, type ProductPatch, type VariantInput } from "./model.ts";
import { isSlug } from "./slug.ts";
import type { products, productVariants } from "./table.ts";

export const maxLanguages = 50;
export const tooManyLanguages = `a product has translations into at most ${maxLanguages} languages`;
export const translationsTooLarge = "would be larger than 512 KiB once merged";

/** The columns of a product that a write sets. Booleans are 0 or 1, because libSQL cannot bind them. */
export type ProductColumns = Partial<
  Omit<typeof products.$inferSelect, "allowBackorder" | "requiresShipping"> &
    Record<"allowBackorder" | "requiresShipping", 0 | 1>
>;

/** The columns of a variant that a write sets. With a price of null, the variant gets its product's prices. */
export type VariantColumns = Partial<Omit<typeof productVariants.$inferSelect, "priceMinor">> & {
  priceMinor?: number | null;
};

export function productColumns(ctx: Ctx, input: ProductPatch): ProductColumns {
  const columns = soldColumns(ctx, input) as ProductColumns;
  if (input.slug !== undefined) columns.slug = slugText(input.slug);
  if (input.description !== undefined)
    columns.description = input.description && requireSafeText("description", input.description);
  if (input.status !== undefined) columns.status = input.status;
  if (input.allow_backorder !== undefined) columns.allowBackorder = input.allow_backorder ? 1 : 0;
  if (input.requires_shipping !== undefined) columns.requiresShipping = input.requires_shipping ? 1 : 0;
  if (input.tax_class !== undefined) columns.taxClass = requireTaxClass("tax_class", input.tax_class);
  if (input.tags !== undefined) columns.tags = tags(input.tags);
  if (input.category_ids !== undefined) columns.categoryIds = JSON.stringify([...new Set(input.category_ids)]);
  if (input.metadata !== undefined) columns.metadata = metadataText(input.metadata);
  if (input.translations !== undefined) columns.translations = translationsText(input.translations);
  return columns;
}

type SoldInput = Pick<VariantInput, "title" | "sku" | "price" | "compare_at_price" | "stock" | "weight_g" | "images">;

export function soldColumns(ctx: Ctx, input: SoldInput, prefix = ""): VariantColumns {
  const { title, sku, price, compare_at_price: before, stock, weight_g: grams, images } = input;
  const { currency } = ctx.tenant;
  const digits = currencyDigits(currency);
  const columns: VariantColumns = typeof price === "number" ? { currency, currencyDigits: digits } : {};
  const minor = (field: string, amount: number | null) =>
    amount === null ? null : parseMoney(prefix + field, amount, digits);
  if (title !== undefined) columns.title = requireText(`${prefix}title`, title, maxTitle);
  if (sku !== undefined) columns.sku = sku === null ? null : requireText(`${prefix}sku`, normalizeSku(sku), 100);
  if (price !== undefined) columns.priceMinor = minor("price", price);
  if (before !== undefined) columns.compareAtMinor = minor("compare_at_price", before);
  if (stock !== undefined) columns.stock = stock === null ? null : requireWhole(`${prefix}stock`, stock, 0, maxStock);
  if (grams !== undefined)
    columns.weightG = grams === null ? null : requireWhole(`${prefix}weight_g`, grams, 0, maxWeight);
  if (images !== undefined) columns.images = imagesText(ctx, images, `${prefix}images`);
  return columns;
}

export function columnsOf<Columns extends object>(columns: Columns): (keyof Columns & string)[] {
  return (Object.keys(columns) as (keyof Columns & string)[]).filter((name) => columns[name] !== undefined);
}

export function columnName(name: string): SQL {
  return sql.raw(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

/** Returns a SKU as it is stored: normalized (NFC), without spaces at the ends. */
export function normalizeSku(sku: string): string {
  return sku.normalize("NFC").trim();
}

function slugText(given: string): string {
  const value = given.normalize("NFC");
  if (isSlug(value)) return value;
  throw invalidField("slug", "must be lowercase letters and digits, joined by single hyphens or underscores");
}

function tags(values: readonly string[]): string {
  const seen = new Set<string>();
  values.forEach((tag, index) => {
    if (seen.has(tag)) throw invalidField(`tags.${index}`, "is repeated");
    seen.add(requireText(`tags.${index}`, tag, 100));
  });
  return JSON.stringify(values);
}

type Texts = { title?: string | null; description?: string | null };

/** Returns translations as JSON text with canonical language codes. In a PATCH, null removes a language or text. */
function translationsText(input: Record<string, Texts | null>): string {
  const names = Object.keys(input);
  if (names.filter((name) => input[name] !== null).length > maxLanguages)
    throw invalidField("translations", tooManyLanguages);
  const texts: Record<string, Texts | null> = {};
  for (const name of names) {
    const tag = parseLanguage(`translations.${name.slice(0, 64)}`, name);
    const field = `translations.${tag}`;
    if (Object.hasOwn(texts, tag)) throw invalidField(field, "is repeated");
    texts[tag] = checkTexts(field, input[name] ?? null);
  }
  return JSON.stringify(texts);
}

function checkTexts(field: string, given: Texts | null): Texts | null {
  if (given === null) return null;
  const { title, description } = given;
  if (typeof title === "string") requireText(`${field}.title`, title, maxTitle);
  if (typeof description === "string") requireSafeText(`${field}.description`, description);
  return { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}
