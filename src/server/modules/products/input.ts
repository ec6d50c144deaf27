import type { Ctx } from "../../context.ts";
import { invalidField } from "../../errors.ts";
import { metadataText } from "../../values/metadata.ts";
import { parseMoney } from "../../values/money.ts";
import { requireText } from "../../values/text.ts";
import { currencyDigits } from "../tenants/currency.ts";
import type { ProductPatch } from "./model.ts";
import { maxPieces } from "./most-pieces.ts";
import { isSlug } from "./slug.ts";
import { requireSafeText, translationsText } from "./translation-input.ts";

/** Column values of the fields given, checked; whoever calls, the terminal included, comes through here. */
export interface ProductColumns {
  title?: string;
  slug?: string;
  description?: string | null;
  status?: "draft" | "published" | "archived";
  priceMinor?: number;
  currency?: string;
  currencyDigits?: number;
  compareAtMinor?: number | null;
  sku?: string | null;
  stock?: number | null;
  /** 0 or 1: a bound boolean ends the process. */
  allowBackorder?: 0 | 1;
  images?: string;
  tags?: string;
  metadata?: string;
  translations?: string;
}

/**
 * Checks what a schema cannot and turns fields into columns. A price is taken in the store's present currency.
 * @throws validationFailed naming the field.
 */
export function productColumns(ctx: Ctx, input: ProductPatch): ProductColumns {
  const columns: ProductColumns = {};
  if (input.title !== undefined) columns.title = requireText("title", input.title, 300);
  if (input.slug !== undefined) columns.slug = slug(input.slug);
  if (input.description !== undefined)
    columns.description = input.description && requireSafeText("description", input.description);
  if (input.status !== undefined) columns.status = input.status;
  if (input.price !== undefined) {
    columns.currency = ctx.tenant.currency;
    columns.currencyDigits = currencyDigits(ctx.tenant.currency);
    columns.priceMinor = parseMoney("price", input.price, columns.currencyDigits);
  }
  if (input.compare_at_price !== undefined)
    columns.compareAtMinor = compareAtMinor(ctx, "compare_at_price", input.compare_at_price);
  if (input.sku !== undefined) columns.sku = skuText("sku", input.sku);
  if (input.stock !== undefined) columns.stock = stockPieces("stock", input.stock);
  if (input.allow_backorder !== undefined) columns.allowBackorder = input.allow_backorder ? 1 : 0;
  if (input.images !== undefined) columns.images = JSON.stringify(input.images.map(checkImage));
  if (input.tags !== undefined) columns.tags = tags(input.tags);
  if (input.metadata !== undefined) columns.metadata = metadataText(input.metadata);
  if (input.translations !== undefined) columns.translations = translationsText(input.translations);
  return columns;
}

/** Minor units of what something cost before, in the store's present currency. Errors: validationFailed naming the field. */
export function compareAtMinor(ctx: Ctx, field: string, amount: number | null): number | null {
  return amount === null ? null : parseMoney(field, amount, currencyDigits(ctx.tenant.currency));
}

/** A SKU as it is kept: composed and without space around it, so that what looks the same is the same SKU. */
export function keptSku(sku: string): string {
  return sku.normalize("NFC").trim();
}

/** A SKU as it is kept. Errors: validationFailed naming the field. */
export function skuText(field: string, sku: string | null): string | null {
  return sku === null ? null : requireText(field, keptSku(sku), 100);
}

/** Pieces on hand, null where they are not counted. Errors: validationFailed naming the field. */
export function stockPieces(field: string, stock: number | null): number | null {
  if (stock !== null && (!Number.isInteger(stock) || stock < 0 || stock > maxPieces)) {
    throw invalidField(field, `must be a whole number of 0 to ${maxPieces}`);
  }
  return stock;
}

function slug(given: string): string {
  const value = given.normalize("NFC");
  if (!isSlug(value))
    throw invalidField("slug", "must be lower-case letters and digits, joined by single hyphens or underscores");
  return value;
}

function checkImage(image: { url: string; alt?: string }, index: number): { url: string; alt: string } {
  const field = `images.${index}.url`;
  requireSafeText(field, image.url);
  if (!URL.canParse(image.url) || !/^https?:/i.test(image.url))
    throw invalidField(field, "must be an http or https address");
  return { url: image.url, alt: requireSafeText(`images.${index}.alt`, image.alt ?? "") };
}

function tags(values: readonly string[]): string {
  const seen = new Set<string>();
  values.forEach((tag, index) => {
    if (seen.has(tag)) throw invalidField(`tags.${index}`, "stands in the list already");
    seen.add(requireText(`tags.${index}`, tag, 100));
  });
  return JSON.stringify(values);
}
