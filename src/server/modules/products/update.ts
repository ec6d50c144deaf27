import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { compiledOnce, get, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField, notFound, preconditionFailed } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { columnName, columnsOf, type ProductColumns, tooManyLanguages } from "./input.ts";
import { explainConflicts } from "./product-errors.ts";
import { productViews, type RenderedProduct } from "./rendering.ts";
import { products } from "./table.ts";
import { isText, ownLanguageError, textChanges, textValues } from "./text-changes.ts";
import { servedJson, servedLanguage } from "./translation.ts";

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

function compileUpdate(names: (keyof ProductColumns)[], own: readonly string[], merge: boolean) {
  const texts = textChanges(names, merge, sql`${products} where ${living}`);
  const changes = names.flatMap((name) => {
    const column = columnName(name);
    if (isText(name) && merge) return [];
    if (merge && name === "metadata") return sql`metadata = json_patch(metadata, ${param(name)})`;
    if (!merge && (name === "sku" || name === "stock")) {
      return sql`${column} = case when has_variants then ${column} else ${param(name)} end`;
    }
    return sql`${column} = ${param(name)}`;
  });
  changes.push(...texts.changes);
  if (names.includes("status")) {
    changes.push(sql`published_at = case when ${param("status")} = 'published' then coalesce(published_at, ${param("now")})
      else published_at end`);
  }
  changes.push(sql`updated_at = ${param("now")}`, sql`version = version + 1`);
  const guards = [living, sql`version = coalesce(${param("ifMatch")}, version)`, ...texts.guards];
  if (own.length > 0) guards.push(sql`not has_variants`);
  return statement<RenderedProduct>(sql`${texts.start}
    update ${products} set ${sql.join(changes, sql`, `)} where ${sql.join(guards, sql` and `)}
    returning ${servedJson(productViews.whole)} as json, version, ${servedLanguage} as language`);
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
