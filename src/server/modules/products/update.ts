import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { compiledOnce, get, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField, notFound, preconditionFailed } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { columnsOf, type ProductColumns, tooManyLanguages } from "./input.ts";
import { explainConflicts } from "./product-errors.ts";
import { productViews, type RenderedProduct } from "./rendering.ts";
import { products } from "./table.ts";
import { ownLanguageError, textValues, updateStatement } from "./text-changes.ts";

const living = sql`tenant_id = ${param("tenantId")} and id = ${param("id")} and deleted_at is null`;

export interface ProductChange {
  columns: ProductColumns;
  /** Merge as PATCH does, or replace as PUT does. */
  merge: boolean;
  /** The language of the given texts, if the caller named one. */
  lang?: string | undefined;
  /** The version that the product must have; null for any. */
  ifMatch: number | null;
}

/**
 * Writes the columns of a product. All guards are in the one statement, so concurrent writes cannot pass between them.
 * @throws notFound, preconditionFailed, conflict, validationFailed.
 */
export async function updateProduct(ctx: Ctx, id: string, change: ProductChange): Promise<RenderedProduct> {
  const { columns, merge, lang, ifMatch } = change;
  const names = columnsOf(columns);
  // A replacement without SKU and stock keeps those of a product with variants, where they are not visible.
  const own = (["sku", "stock"] as const).filter((name) => names.includes(name) && (merge || columns[name] !== null));
  const values = {
    ...columns,
    ...textValues(ctx, columns, lang),
    tenantId: ctx.tenant.id,
    id,
    now: toTimestamp(ctx.now()),
    ifMatch,
  };
  const name = `update product ${merge} ${own.join(" ")} ${names.join(" ")}`;
  const stmt = compiledOnce(name, () => compileUpdate(names, own, merge));
  const product = await explainConflicts(() => get(ctx.db, stmt, values));
  if (!product) throw await failedUpdateError(ctx, id, change, own);
  return product;
}

function compileUpdate(names: readonly string[], own: readonly string[], merge: boolean) {
  const special: Record<string, SQL> = {};
  if (merge && names.includes("metadata"))
    special.metadata = sql`metadata = json_patch(metadata, ${param("metadata")})`;
  for (const name of merge ? [] : ["sku", "stock"].filter((name) => names.includes(name))) {
    const column = sql.raw(name);
    special[name] = sql`${column} = case when has_variants then ${column} else ${param(name)} end`;
  }
  if (names.includes("status")) {
    special.publishedAt = sql`published_at = case when ${param("status")} = 'published'
      then coalesce(published_at, ${param("now")}) else published_at end`;
  }
  const guards = own.length > 0 ? [sql`not has_variants`] : [];
  return updateStatement(names, { table: sql`${products}`, living, json: productViews.whole, merge, special, guards });
}

const selectCurrent = statement<{ version: number; lang: string; has_variants: number }>(sql`
  select version, lang, has_variants from ${products} where ${living}`);

async function failedUpdateError(ctx: Ctx, id: string, change: ProductChange, own: readonly string[]) {
  const current = await get(ctx.db, selectCurrent, { tenantId: ctx.tenant.id, id });
  if (!current) return notFound("product", id);
  if (change.ifMatch !== null && change.ifMatch !== current.version) return preconditionFailed();
  const [field] = own;
  if (current.has_variants && field) return variantFieldError(field);
  const lang = change.merge ? current.lang : (change.lang ?? current.lang);
  const clash = ownLanguageError(change.columns.translations, lang);
  if (clash || !change.merge) return clash ?? preconditionFailed();
  // The transaction has read this row before, so the number of languages must be the reason.
  return invalidField(change.columns.translations === undefined ? "lang" : "translations", tooManyLanguages);
}

export function variantFieldError(field: string): AppError {
  return invalidField(field, "must be set on each variant, because this product has variants");
}
