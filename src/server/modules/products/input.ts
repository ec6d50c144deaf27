import type { Ctx } from "../../context.ts";
import { invalidField } from "../../errors.ts";
import { metadataText } from "../../metadata.ts";
import { parseMoney } from "../../money.ts";
import { requireText } from "../../text.ts";
import { currencyDigits } from "../tenants/currency.ts";
import type { ProductPatch } from "./model.ts";
import { isSlug } from "./slug.ts";

/** Column values of the fields given, checked; whoever calls, the terminal included, comes through here. */
export interface ProductColumns {
  title?: string;
  slug?: string;
  description?: string | null;
  status?: "draft" | "published" | "archived";
  priceMinor?: number;
  currency?: string;
  currencyDigits?: number;
  sku?: string | null;
  stock?: number | null;
  images?: string;
  tags?: string;
  metadata?: string;
}

/**
 * Checks what a schema cannot and turns fields into columns. A price is taken in the store's present currency.
 * @throws AppError 5102 naming the field.
 */
export function productColumns(ctx: Ctx, input: ProductPatch): ProductColumns {
  const columns: ProductColumns = {};
  if (input.title !== undefined) columns.title = requireText("title", input.title, 300);
  if (input.slug !== undefined) columns.slug = slug(input.slug);
  if (input.description !== undefined)
    columns.description = input.description && text("description", input.description);
  if (input.status !== undefined) columns.status = input.status;
  if (input.price !== undefined) {
    columns.currency = ctx.tenant.currency;
    columns.currencyDigits = currencyDigits(ctx.tenant.currency);
    columns.priceMinor = parseMoney("price", input.price, columns.currencyDigits);
  }
  if (input.sku !== undefined) columns.sku = input.sku && requireText("sku", input.sku.normalize("NFC"), 100);
  if (input.stock !== undefined) columns.stock = input.stock;
  if (input.images !== undefined) columns.images = JSON.stringify(input.images.map(checkImage));
  if (input.tags !== undefined) columns.tags = tags(input.tags);
  if (input.metadata !== undefined) columns.metadata = metadataText(input.metadata);
  return columns;
}

function text(field: string, value: string): string {
  // NUL would end the text early for some readers of the database, a lone surrogate would be replaced.
  if (value.includes("\0") || !value.isWellFormed()) throw invalidField(field, "must not hold NUL or broken Unicode");
  return value;
}

function slug(given: string): string {
  const value = given.normalize("NFC");
  if (!isSlug(value)) throw invalidField("slug", "must be lower-case letters and digits, joined by single hyphens");
  return value;
}

function checkImage(image: { url: string; alt?: string }, index: number): { url: string; alt: string } {
  const field = `images.${index}.url`;
  text(field, image.url);
  if (!URL.canParse(image.url) || !/^https?:/i.test(image.url))
    throw invalidField(field, "must be an http or https address");
  return { url: image.url, alt: text(`images.${index}.alt`, image.alt ?? "") };
}

function tags(values: readonly string[]): string {
  const seen = new Set<string>();
  values.forEach((tag, index) => {
    if (seen.has(tag)) throw invalidField(`tags.${index}`, "stands in the list already");
    seen.add(requireText(`tags.${index}`, tag, 100));
  });
  return JSON.stringify(values);
}
