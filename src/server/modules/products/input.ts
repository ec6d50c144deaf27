import type { Ctx } from "../../context.ts";
import { invalidField } from "../../errors.ts";
import { requireText } from "../../text.ts";
import { currencyDigits } from "../tenants/currency.ts";
import type { ProductPatch } from "./model.ts";
import { parseMoney } from "./money.ts";
import { isSlug } from "./slug.ts";

const mostMetadataBytes = 16_384;
const deepestMetadata = 20;

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
  if (input.metadata !== undefined) columns.metadata = metadata(input.metadata);
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

function metadata(value: Record<string, unknown>): string {
  checkShape(value, 0, { left: mostMetadataBytes / 2 });
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > mostMetadataBytes)
    throw invalidField("metadata", `must be at most ${mostMetadataBytes} bytes`);
  text("metadata", json);
  if (json.includes("\\u0000") || /\\ud[89a-f]/i.test(json)) {
    throw invalidField("metadata", "must not hold NUL or broken Unicode");
  }
  return json;
}

/** Walks no further than a value of permitted size can reach: each part of it takes two bytes or more. */
function checkShape(value: unknown, depth: number, budget: { left: number }): void {
  if (--budget.left < 0) throw invalidField("metadata", `must be at most ${mostMetadataBytes} bytes`);
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalidField("metadata", "holds a number that is too large");
  }
  if (typeof value !== "object" || value === null) return;
  if (depth >= deepestMetadata) throw invalidField("metadata", `must be at most ${deepestMetadata} levels deep`);
  if (Array.isArray(value)) for (const item of value) checkShape(item, depth + 1, budget);
  else for (const name in value) checkShape((value as Record<string, unknown>)[name], depth + 1, budget);
}
