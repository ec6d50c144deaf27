import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { isUniqueViolation } from "../../../db/db-errors.ts";
import { bind, get, param, statement } from "../../../db/statement.ts";
import { newId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { taken } from "../product-errors.ts";
import type { Rendered } from "../rendering.ts";
import { products, productVariants } from "../table.ts";
import { summarizedOnce } from "./summaries.ts";
import { completeVariant, type VariantColumns, variantColumns } from "./variant-input.ts";
import type { VariantInput } from "./variant-model.ts";

export const maxVariants = 100;

// Variants without a price get the product's price and currency. The maximum number is part of the statement.
const insertRows = statement<Rendered>(sql`
  insert into ${productVariants} (id, tenant_id, product_id, title, sku, options, options_key, has_own_price,
    price_minor, compare_at_minor, currency, currency_digits, stock, images, position, created_at,
    updated_at)
  select v.value ->> 'id', p.tenant_id, p.id, v.value ->> 'title', v.value ->> 'sku', v.value ->> 'options',
    v.value ->> 'optionsKey', v.value ->> 'priceMinor' is not null, coalesce(v.value ->> 'priceMinor', p.price_minor),
    case when v.value ->> 'priceMinor' is null then p.compare_at_minor else v.value ->> 'compareAtMinor' end,
    coalesce(v.value ->> 'currency', p.currency), coalesce(v.value ->> 'currencyDigits', p.currency_digits),
    v.value ->> 'stock', coalesce(v.value ->> 'images', '[]'),
    coalesce(v.value ->> 'position', (select max(position) + 1 from ${productVariants}
      where product_id = p.id and deleted_at is null), 0),
    ${param("now")}, ${param("now")}
  from json_each(${param("rows")}) v join ${products} p
  where p.tenant_id = ${param("tenantId")} and p.id = ${param("productId")} and p.deleted_at is null
    and (select count(*) from ${productVariants} where product_id = p.id and deleted_at is null)
      + json_array_length(${param("rows")}) <= ${sql.raw(String(maxVariants))}
  returning rendered as json, version`);
const findTaken = statement<{ place: number }>(sql`
  select key as place from json_each(${param("skus")})
  where exists (select 1 from ${products} where tenant_id = ${param("tenantId")} and sku = value and deleted_at is null)
    or exists (select 1 from ${productVariants}
      where tenant_id = ${param("tenantId")} and sku = value and deleted_at is null)
  order by key limit 1`);

/** The columns of a new product's variants. Errors: validationFailed, conflict for two with the same SKU or options. */
export function variantRows(ctx: Ctx, inputs: readonly VariantInput[]) {
  const rows = inputs.map((input, index) => {
    const prefix = `variants.${index}.`;
    return { position: index, ...completeVariant(variantColumns(ctx, input, prefix), prefix) };
  });
  for (const [name, field] of [
    ["sku", "sku"],
    ["optionsKey", "options"],
  ] as const) {
    const seen = new Set<string>();
    for (const [index, { [name]: value }] of rows.entries()) {
      if (value === null) continue;
      if (seen.has(value)) throw taken(`variants.${index}.${field}`, undefined, "is repeated");
      seen.add(value);
    }
  }
  return rows;
}

/** Adds a variant inside a transaction; undefined if the product does not exist or would have too many. */
export function insertVariant(tx: Ctx, productId: string, row: VariantColumns): Promise<Rendered | undefined> {
  return get(tx.db, insertRows, valuesOf(tx, productId, [row]));
}

/** Adds the variants of a new product, inside a transaction. Errors: conflict naming the variant whose SKU is taken. */
export async function insertVariants(tx: Ctx, productId: string, rows: readonly VariantColumns[]): Promise<void> {
  try {
    await tx.db.batch(summarizedOnce([bind(insertRows, valuesOf(tx, productId, rows))]));
  } catch (error) {
    if (!isUniqueViolation(error, "product_variants.sku")) throw error;
    const skus = JSON.stringify(rows.map(({ sku }) => sku));
    const found = await get(tx.db, findTaken, { tenantId: tx.tenant.id, skus });
    throw taken(`variants.${found?.place ?? 0}.sku`, error);
  }
}

function valuesOf(tx: Ctx, productId: string, rows: readonly VariantColumns[]) {
  const texts = rows.map((row) => ({ id: newId("var"), ...row }));
  return { tenantId: tx.tenant.id, productId, rows: JSON.stringify(texts), now: toTimestamp(tx.now()) };
}
