import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { compiledOnce, get, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField, notFound, preconditionFailed } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { columnName, columnsOf, maxLanguages, type ProductColumns, tooManyLanguages } from "./input.ts";
import { explainConflicts } from "./product-errors.ts";
import { productViews, type RenderedProduct } from "./rendering.ts";
import { products } from "./table.ts";
import { languageChain, pathOf, servedJson, servedLanguage } from "./translation.ts";

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
  const target = lang ?? ctx.tenant.language;
  const values = {
    ...columns,
    titlePatch: JSON.stringify({ [target]: { title: columns.title } }),
    descriptionPatch: JSON.stringify({ [target]: { description: columns.description } }),
    target,
    isAsked: lang === undefined ? 0 : 1,
    lang: lang ?? null,
    languages: languageChain(lang, ctx.tenant.language),
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
  const changes = names.flatMap((name) => {
    const column = columnName(name);
    if (merge && (name === "title" || name === "description")) {
      return sql`${column} = case when ${isOwnText(name)} then ${param(name)} else ${column} end`;
    }
    if (merge && name === "metadata") return sql`metadata = json_patch(metadata, ${param(name)})`;
    if (merge && name === "translations") return [];
    if (!merge && (name === "sku" || name === "stock")) {
      return sql`${column} = case when has_variants then ${column} else ${param(name)} end`;
    }
    return sql`${column} = ${param(name)}`;
  });
  const merged = merge ? mergedTranslations(names) : undefined;
  if (merged) changes.push(sql`translations = (select texts from merged)`);
  if (!merge) changes.push(sql`lang = coalesce(${param("lang")}, lang)`);
  if (names.includes("status")) {
    changes.push(sql`published_at = case when ${param("status")} = 'published' then coalesce(published_at, ${param("now")})
      else published_at end`);
  }
  changes.push(sql`updated_at = ${param("now")}`, sql`version = version + 1`);
  const guards = [living, sql`version = coalesce(${param("ifMatch")}, version)`];
  if (own.length > 0) guards.push(sql`not has_variants`);
  if (merged) guards.push(sql`(select languages from merged) <= ${sql.raw(String(maxLanguages))}`);
  if (names.includes("translations")) {
    const lang = merge ? sql.raw("lang") : sql`coalesce(${param("lang")}, lang)`;
    guards.push(sql`json_type(${param("translations")}, ${pathOf(lang)}) is null`);
  }
  // Merging large texts takes milliseconds, so it is done once.
  const start = merged
    ? sql`with merged as materialized (select json_group_object(key, json(value)) as texts, count(*) as languages
        from (select ${merged} as merged from ${products} where ${living}), json_each(merged) where value <> '{}')`
    : sql``;
  return statement<RenderedProduct>(sql`${start}
    update ${products} set ${sql.join(changes, sql`, `)} where ${sql.join(guards, sql` and `)}
    returning ${servedJson(productViews.whole)} as json, version, ${servedLanguage} as language`);
}

/** SQL for whether a given text is in the product's own language, or is the text that readers without a language see. */
function isOwnText(text: "title" | "description"): SQL {
  const target = param("target");
  return sql`(lang = ${target} or (${param("isAsked")} = 0
    and json_extract(translations, ${pathOf(sql`${target}`, text)}) is null))`;
}

/** SQL for the translations after a PATCH of them, and of texts in another language. Undefined if none is written. */
function mergedTranslations(names: (keyof ProductColumns)[]): SQL | undefined {
  const texts = (["title", "description"] as const).filter((name) => names.includes(name));
  const isGiven = names.includes("translations");
  if (texts.length === 0 && !isGiven) return undefined;
  let merged = isGiven ? sql`json_patch(translations, ${param("translations")})` : sql.raw("translations");
  for (const text of texts) {
    merged = sql`case when ${isOwnText(text)} then ${merged} else json_patch(${merged}, ${param(`${text}Patch`)}) end`;
  }
  return merged;
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

/** The error of translations that include the product's own language; undefined if they do not. */
export function ownLanguageError(translations: string | undefined, lang: string): AppError | undefined {
  // Most texts have no such name in any place, so that they need not be parsed.
  if (!translations?.includes(`"${lang}":`) || !Object.hasOwn(JSON.parse(translations), lang)) return undefined;
  return invalidField(`translations.${lang}`, "is the product's own language. Send its texts in title and description");
}

export function variantFieldError(field: string): AppError {
  return invalidField(field, "must be set on each variant, because this product has variants");
}
