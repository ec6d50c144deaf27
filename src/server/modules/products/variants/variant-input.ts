import type { Ctx } from "../../../context.ts";
import { type AppError, invalidField } from "../../../errors.ts";
import { parseMoney } from "../../../values/money.ts";
import { requireText } from "../../../values/text.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { imagesText } from "../images.ts";
import { compareAtMinor, skuText, stockCount } from "../input.ts";
import type { productVariants } from "../table.ts";
import type { VariantPatch } from "./variant-model.ts";

const maxOptions = 10;

type Row = typeof productVariants.$inferSelect;

/** Column values of the given fields. */
export type VariantColumns = Partial<
  Pick<Row, "title" | "sku" | "options" | "optionsKey" | "currency" | "currencyDigits" | "compareAtMinor"> &
    Pick<Row, "stock" | "images" | "position"> & {
      /** Null, or undefined in a new variant: price, compare-at price and currency are the product's. */
      priceMinor: number | null;
    }
>;

/** Validates what a schema cannot, and makes columns. `prefix` is such as `variants.0.`. Errors: validationFailed. */
export function variantColumns(ctx: Ctx, input: VariantPatch, prefix = ""): VariantColumns {
  const columns: VariantColumns = {};
  const { title, sku, options, price, compare_at_price, stock, images, position } = input;
  if (title !== undefined) columns.title = requireText(`${prefix}title`, title, 300);
  if (sku !== undefined) columns.sku = skuText(`${prefix}sku`, sku);
  if (options !== undefined) Object.assign(columns, optionColumns(`${prefix}options`, options));
  if (price === null) columns.priceMinor = null;
  if (typeof price === "number") {
    columns.currency = ctx.tenant.currency;
    columns.currencyDigits = currencyDigits(ctx.tenant.currency);
    columns.priceMinor = parseMoney(`${prefix}price`, price, columns.currencyDigits);
  }
  if (compare_at_price !== undefined)
    columns.compareAtMinor = compareAtMinor(ctx, `${prefix}compare_at_price`, compare_at_price);
  if (price === null && typeof compare_at_price === "number") throw inheritedPriceError(prefix);
  if (stock !== undefined) columns.stock = stockCount(`${prefix}stock`, stock);
  if (images !== undefined) columns.images = imagesText(ctx, images, `${prefix}images`);
  if (position !== undefined) columns.position = position;
  return columns;
}

function optionColumns(field: string, options: Record<string, string>): { options: string; optionsKey: string } {
  const entries = Object.entries(options).map(([name, value]) => {
    const kept = requireText(`${field}.${name.slice(0, 64)}`, name.normalize("NFC"), 50);
    return [kept, requireText(`${field}.${kept}`, value.normalize("NFC"), 100)] as const;
  });
  if (entries.length > maxOptions) throw invalidField(field, `must have at most ${maxOptions} options`);
  if (new Set(entries.map(([name]) => name)).size < entries.length) throw invalidField(field, "has a repeated option");
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { options: JSON.stringify(Object.fromEntries(entries)), optionsKey: JSON.stringify(sorted) };
}

/** The error of a compare-at price for a variant without a price of its own. */
export function inheritedPriceError(prefix = ""): AppError {
  return invalidField(`${prefix}compare_at_price`, "requires a price of the variant's own");
}

/** The title made from options, such as `M / Red`; empty without options. */
export function titleFrom(options: string): string {
  return Object.values(JSON.parse(options) as Record<string, string>).join(" / ");
}

/** All columns of a new variant except its position. Errors: validationFailed without title and options. */
export function completeVariant(columns: VariantColumns, prefix = "") {
  const { options = "{}", optionsKey = "[]" } = columns;
  const title = columns.title ?? titleFrom(options);
  if (title === "") throw invalidField(`${prefix}title`, "is required unless options are sent");
  const { priceMinor = null, compareAtMinor = null } = columns;
  if (priceMinor === null && compareAtMinor !== null) throw inheritedPriceError(prefix);
  return {
    sku: null,
    stock: null,
    images: "[]",
    ...columns,
    priceMinor,
    compareAtMinor,
    title: title.slice(0, 300),
    options,
    optionsKey,
  };
}
