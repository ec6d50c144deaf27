import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { statement } from "../../db/statement.ts";
import { orderLines } from "./table.ts";

export type NewLine = Record<"id" | "productId" | "title" | "options", string> &
  Record<"variantId" | "variantTitle" | "sku" | "image", string | null> & {
    taxClass: string;
    weight: number | null;
  } & Record<"priceMinor" | "quantity" | "subtotal" | "discount" | "tax" | "total", number> & {
    isCounted: boolean;
    requiresShipping: boolean;
  };

const insert = statement(sql`
  insert into ${orderLines} (tenant_id, order_id, position, id, product_id, variant_id, title, variant_title, sku, options,
    image, price_minor, quantity, subtotal_minor, discount_minor, tax_minor, total_minor, is_counted, tax_class, requires_shipping, weight_g) values `)
  .compiled.sql;
const marks = `(${Array(21).fill("?")})`;
/** The SQL texts by number of lines. A repeated string is found faster in the cache of statements than an equal one. */
const texts: string[] = [];

/** Returns a statement that inserts all lines. It uses no JSON paths, because they are slow on a database server. */
export function insertLines(
  { tenantId, id }: Record<"tenantId" | "id", string>,
  lines: readonly NewLine[],
): InStatement {
  const args = lines.flatMap((line, position) => {
    const { productId, variantId, title, variantTitle, sku, options, image, isCounted } = line;
    const texts = [line.id, productId, variantId, title, variantTitle, sku, options, image];
    const { priceMinor, quantity, subtotal, discount, tax, total } = line;
    const amounts = [priceMinor, quantity, subtotal, discount, tax, total];
    return [tenantId, id, position, ...texts, ...amounts, isCounted, line.taxClass, line.requiresShipping, line.weight];
  });
  texts[lines.length] ??= insert + lines.map(() => marks).join();
  return { sql: texts[lines.length] as string, args };
}
