import { isNull, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { byId, compiledOnce, get, isVersion, notDeleted, param, statement } from "../../../db/statement.ts";
import { type AppError, invalidField, notFound, preconditionFailed } from "../../../errors.ts";
import type { categories } from "../categories/table.ts";
import { withSizes } from "./images.ts";
import { columnName, columnsOf, maxLanguages, type ProductColumns, tooManyLanguages } from "./input.ts";
import { isChangeShown, productViews, type RenderedProduct, stockVersion } from "./rendering.ts";
import { explainConflicts } from "./resolve.ts";
import { products } from "./table.ts";
import { languageChain, localizedJson, localizedLanguage, pathOf } from "./translation.ts";

export interface ProductChange {
  columns: ProductColumns;
  merge: boolean;
  lang?: string | undefined;
  ifMatch: number | null;
}

export type WriteOptions = Pick<ProductChange, "ifMatch" | "lang">;

type UpdatedProduct = RenderedProduct & Record<"hasVariants" | "isShown", number>;

export async function updateProduct(ctx: Ctx, id: string, change: ProductChange, now: string): Promise<UpdatedProduct> {
  const { columns, merge, lang, ifMatch } = change;
  const names = columnsOf(columns);
  // A GET of a product with variants does not show the product's own SKU and stock. So a PUT with null keeps both.
  const own = (["sku", "stock"] as const).filter((name) => names.includes(name) && (merge || columns[name] !== null));
  const values = { ...columns, ...textValues(ctx, columns, lang), tenantId: ctx.tenant.id, id, now, ifMatch };
  const name = `update product ${merge} ${own.join(" ")} ${names.join(" ")}`;
  const stmt = compiledOnce(name, () => compileUpdate(names, own, merge));
  const product = await explainConflicts(ctx, columns, () => get(ctx.db, stmt, values));
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
  if (names.includes("images")) special.images = sql`images = ${withSizes(param("images"))}`;
  if (names.includes("status")) {
    special.publishedAt = sql`published_at = case when ${param("status")} = 'published'
      then coalesce(published_at, ${param("now")}) else published_at end`;
  }
  if (names.join() === "stock") special.version = stockVersion(sql`${param("stock")} - reserved`);
  // A GET shows the sum of the variants' stock as `stock`, so a PUT may contain the sum.
  const sum = merge ? sql`` : sql` or variants_stock is ${param("stock")}`;
  const guards = [isNull(products.deletedAt)];
  for (const name of own) guards.push(sql`(not has_variants${name === "stock" ? sum : sql``})`);
  const more = sql`, has_variants as hasVariants, ${isChangeShown} as isShown`;
  const form = { table: products, json: productViews.staff.json, merge, special, guards, more };
  return updateStatement<UpdatedProduct>(names, form);
}

const { version, lang, stock, hasVariants } = products;
export const selectCurrent = statement((q) =>
  q.select({ version, lang, stock, hasVariants }).from(products).where(notDeleted(products)),
);

async function failedUpdateError(ctx: Ctx, id: string, change: ProductChange, own: readonly string[]) {
  const current = await get(ctx.db, selectCurrent, { tenantId: ctx.tenant.id, id });
  if (!current) return notFound("product", id);
  if (change.ifMatch !== null && change.ifMatch !== current.version) return preconditionFailed();
  const [field] = own;
  if (current.hasVariants && field) return variantFieldError(field);
  const lang = change.merge ? current.lang : (change.lang ?? current.lang);
  const clash = ownLanguageError(change.columns.translations, lang);
  if (clash || !change.merge) return clash ?? preconditionFailed();
  // Every other condition of the update is checked above, so there are too many languages.
  return tooManyLanguagesError(change.columns);
}

export function tooManyLanguagesError({ translations }: Pick<ProductColumns, "translations">): AppError {
  return invalidField(translations === undefined ? "lang" : "translations", tooManyLanguages);
}

export function variantFieldError(field: string): AppError {
  return invalidField(field, "must be set on each variant, because this product has variants");
}

export function textValues(ctx: Ctx, columns: Pick<ProductColumns, "title" | "description">, lang?: string) {
  const target = lang ?? ctx.tenant.language;
  return {
    titlePatch: JSON.stringify({ [target]: { title: columns.title } }),
    descriptionPatch: JSON.stringify({ [target]: { description: columns.description } }),
    target,
    isAsked: lang === undefined ? 0 : 1,
    lang: lang ?? null,
    languages: languageChain(lang, ctx.tenant.language),
  };
}

interface TextUpdate {
  table: typeof products | typeof categories;
  json: SQL;
  merge: boolean;
  special?: Record<string, SQL>;
  guards?: SQL[];
  more?: SQL;
}

/** Builds an update of a product or category, which sets the columns `names` and increases the version. */
export function updateStatement<Row = RenderedProduct>(names: readonly string[], update: TextUpdate) {
  const { table, json, merge, special = {}, guards = [], more = sql`` } = update;
  const merged = merge ? mergedTranslations(names) : undefined;
  const all = [byId(table), isVersion(table), ...guards];
  const changes = Object.values({
    ...Object.fromEntries(names.map((name) => [name, sql`${columnName(name)} = ${param(name)}`])),
    ...(merge && Object.fromEntries(textsOf(names).map((name) => [name, ownText(name)]))),
    version: sql`version = version + 1, updated_at = ${param("now")}`,
    ...special,
    ...(merged && { translations: sql`translations = (select texts from merged)` }),
    ...(!merge && { lang: sql`lang = coalesce(${param("lang")}, lang)` }),
  });
  if (merged) all.push(sql`(select languages from merged) <= ${sql.raw(String(maxLanguages))}`);
  if (names.includes("translations")) {
    const lang = merge ? sql.raw("lang") : sql`coalesce(${param("lang")}, lang)`;
    all.push(sql`json_type(${param("translations")}, ${pathOf(lang)}) is null`);
  }
  // Merging large translations takes milliseconds, so all expressions use one merged text.
  const start = merged
    ? sql`with merged as materialized (select json_group_object(key, json(value)) as texts, count(*) as languages
        from (select ${merged} as merged from ${table} where ${byId(table)}), json_each(merged) where value <> '{}')`
    : sql``;
  return statement<Row>(sql`${start}
    update ${table} set ${sql.join(changes, sql`, `)} where ${sql.join(all, sql` and `)}
    returning ${localizedJson(json)} as json, version, ${localizedLanguage} as language${more}`);
}

const textsOf = (names: readonly string[]) =>
  (["title", "description"] as const).filter((name) => names.includes(name));

const ownText = (text: "title" | "description") =>
  sql`${sql.raw(text)} = case when ${isOwnText(text)} then ${param(text)} else ${sql.raw(text)} end`;

/** SQL condition: the given text replaces the text in the record's own language, not a translation. */
function isOwnText(text: "title" | "description"): SQL {
  const target = param("target");
  return sql`(lang = ${target} or (${param("isAsked")} = 0
    and json_extract(translations, ${pathOf(sql`${target}`, text)}) is null))`;
}

function mergedTranslations(names: readonly string[]): SQL | undefined {
  const texts = textsOf(names);
  const isGiven = names.includes("translations");
  if (texts.length === 0 && !isGiven) return undefined;
  let merged = isGiven ? sql`json_patch(translations, ${param("translations")})` : sql.raw("translations");
  for (const text of texts) {
    merged = sql`case when ${isOwnText(text)} then ${merged} else json_patch(${merged}, ${param(`${text}Patch`)}) end`;
  }
  return merged;
}

export function ownLanguageError(translations: string | undefined, lang: string): AppError | undefined {
  // Parses translations only if they contain the name of the language, which is rare.
  if (!translations?.includes(`"${lang}":`) || !Object.hasOwn(JSON.parse(translations), lang)) return undefined;
  return invalidField(
    `translations.${lang}`,
    "is the language of title and description. Send its texts in title and description",
  );
}

/** SQL for a new row's slug. If a slug made from the title is taken, the last ten characters of the id are appended. */
export function freeSlug(table: typeof products | typeof categories): SQL {
  const [slug, among] = [param("slug"), table === products ? sql`and deleted_at is null` : sql``];
  return sql`case when ${param("isSlugGiven")} or not exists (select 1 from ${table}
      where tenant_id = ${param("tenantId")} and slug = ${slug} ${among})
    then ${slug} else ${slug} || '-' || substr(${param("id")}, -10) end`;
}
