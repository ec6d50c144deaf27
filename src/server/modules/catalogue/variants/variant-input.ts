import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { bind, param, statement } from "../../../db/statement.ts";
import { type AppError, conflict, fieldError, invalidField } from "../../../errors.ts";
import { requireText } from "../../../values/fields.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { withSizes } from "../products/images.ts";
import { soldColumns, type VariantColumns } from "../products/input.ts";
import { maxTitle, maxVariants, type VariantInput } from "../products/model.ts";
import type { Rendered } from "../products/rendering.ts";
import { products, productVariants, staleSummaries } from "../products/table.ts";

/** Stops the triggers that copy variants to their products, until `endBatch` in the same transaction. */
export const beginBatch = bind(statement(sql`insert or ignore into ${staleSummaries} values ('', '')`));

/** Copies variants to each product whose variants changed since `beginBatch`. Without `endBatch`, the COMMIT fails. */
export const endBatch = bind(statement(sql`delete from ${staleSummaries}`));

/** Wraps the statements of a transaction, so that variants are copied to each product only once, at the end. */
export function withDeferredSummaries(statements: InStatement[]): InStatement[] {
  return [beginBatch, ...statements, endBatch];
}

const maxOptions = 10;

export function variantColumns(ctx: Ctx, input: VariantInput, prefix = ""): VariantColumns {
  const { options, price, compare_at_price: before, position } = input;
  if (price === null && typeof before === "number") throw inheritedPriceError(prefix);
  const columns = soldColumns(ctx, input, prefix);
  if (options !== undefined) Object.assign(columns, optionColumns(`${prefix}options`, options));
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

export function inheritedPriceError(prefix = ""): AppError {
  return invalidField(`${prefix}compare_at_price`, "requires that the variant has its own price");
}

export function titleFrom(options: string): string {
  return Object.values(JSON.parse(options) as Record<string, string>).join(" / ");
}

export function completeVariant(columns: VariantColumns, prefix = "") {
  const { options = "{}", optionsKey = "[]" } = columns;
  const title = columns.title ?? titleFrom(options);
  if (title === "") throw invalidField(`${prefix}title`, "is required unless options are sent");
  const { priceMinor = null, compareAtMinor = null } = columns;
  if (priceMinor === null && compareAtMinor !== null) throw inheritedPriceError(prefix);
  const given = { ...columns, priceMinor, compareAtMinor, title: title.slice(0, maxTitle), options, optionsKey };
  return { sku: null, stock: null, weightG: null, images: "[]", ...given };
}

// A variant without a price gets the product's price and currency. Inserts nothing if there would be too many variants.
export const insertVariants = statement<Rendered>(sql`
  insert into ${productVariants} (id, tenant_id, product_id, title, sku, options, options_key, has_own_price,
    price_minor, compare_at_minor, currency, currency_digits, stock, weight_g, images, position, created_at,
    updated_at)
  select v.value ->> 'id', p.tenant_id, p.id, v.value ->> 'title', v.value ->> 'sku', v.value ->> 'options',
    v.value ->> 'optionsKey', v.value ->> 'priceMinor' is not null, coalesce(v.value ->> 'priceMinor', p.price_minor),
    case when v.value ->> 'priceMinor' is null then p.compare_at_minor else v.value ->> 'compareAtMinor' end,
    coalesce(v.value ->> 'currency', p.currency), coalesce(v.value ->> 'currencyDigits', p.currency_digits),
    v.value ->> 'stock', v.value ->> 'weightG', ${withSizes(sql`coalesce(v.value ->> 'images', '[]')`)},
    coalesce(v.value ->> 'position', (select max(position) + 1 from ${productVariants}
      where product_id = p.id and deleted_at is null), 0),
    ${param("now")}, ${param("now")}
  from json_each(${param("rows")}) v join ${products} p
  where p.tenant_id = ${param("tenantId")} and p.id = ${param("productId")} and p.deleted_at is null
    and (select count(*) from ${productVariants} where product_id = p.id and deleted_at is null)
      + json_array_length(${param("rows")}) <= ${sql.raw(String(maxVariants))}
  returning rendered as json, version`);

/** Returns the columns of a new product's variants. Errors: validationFailed, conflict for repeated values. */
export function variantRows(ctx: Ctx, inputs: readonly VariantInput[]) {
  if (inputs.length > maxVariants) throw invalidField("variants", `must have at most ${maxVariants} variants`);
  const rows = inputs.map((input, index) => {
    const prefix = `variants.${index}.`;
    return { position: index, ...completeVariant(variantColumns(ctx, input, prefix), prefix) };
  });
  for (const [name, field] of [["sku", "sku"] as const, ["optionsKey", "options"] as const]) {
    const values = rows.map((row) => row[name]);
    const repeated = values.findIndex((value, index) => value !== null && values.indexOf(value) < index);
    if (repeated !== -1) throw fieldError(conflict, `variants.${repeated}.${field}`, "is repeated");
  }
  return rows;
}

export function newVariants(tx: Ctx, productId: string, variants: readonly VariantColumns[]) {
  const rows = JSON.stringify(variants.map((row) => ({ id: newId("var"), ...row })));
  return { tenantId: tx.tenant.id, productId, rows, now: toTimestamp(tx.now()) };
}
