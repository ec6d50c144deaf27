import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { type CompiledStatement, get, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField, preconditionFailed } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { ProductColumns } from "./input.ts";
import type { RenderedProduct } from "./rendering.ts";
import { products } from "./table.ts";
import { explaining, noSuchProduct } from "./transfer/refusal.ts";
import { languageChain, pathOf, servedJson, servedLanguage } from "./translation.ts";
import { maxLanguages, tooManyLanguages } from "./translation-input.ts";

const living = sql`tenant_id = ${param("tenantId")} and id = ${param("id")} and deleted_at is null`;

const columnNames: Record<keyof ProductColumns, string> = {
  title: "title",
  slug: "slug",
  description: "description",
  status: "status",
  priceMinor: "price_minor",
  currency: "currency",
  currencyDigits: "currency_digits",
  compareAtMinor: "compare_at_minor",
  sku: "sku",
  stock: "stock",
  allowBackorder: "allow_backorder",
  images: "images",
  tags: "tags",
  metadata: "metadata",
  translations: "translations",
};

/** One write of a product. */
export interface ProductChange {
  columns: ProductColumns;
  /** Merge as PATCH does, or replace as PUT does. */
  merge: boolean;
  /** The language of the texts given; undefined where the caller named none. */
  lang: string | undefined;
  /** The version that must stand; null for any. */
  ifMatch: number | null;
}

/** One statement for each set of columns that callers have changed together. */
const updates = new Map<string, CompiledStatement<RenderedProduct>>();

/**
 * Writes the columns of a product, in a statement that holds every guard: between a read and a write there would be
 * room for another.
 * @throws notFound, preconditionFailed, conflict, validationFailed for stock or SKU of a product with variants, for translations into its own
 * language, and for too many.
 */
export async function updateProduct(ctx: Ctx, id: string, change: ProductChange): Promise<RenderedProduct> {
  const { columns, merge, lang, ifMatch } = change;
  const names = (Object.keys(columnNames) as (keyof ProductColumns)[]).filter((name) => columns[name] !== undefined);
  // A replacement that says nothing of them leaves alone what variants have taken the place of.
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
  const stmt = updateStatement(names, own, merge);
  const product = await explaining(() => get(ctx.db, stmt, values));
  if (!product) throw await whyNot(ctx, id, change, own);
  return product;
}

function updateStatement(names: (keyof ProductColumns)[], own: readonly string[], merge: boolean) {
  const key = `${merge} ${own.join(" ")} ${names.join(" ")}`;
  const kept = updates.get(key);
  if (kept) return kept;
  const changes = names.flatMap((name) => {
    const column = sql.raw(columnNames[name]);
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
  if (merged)
    changes.push(sql`translations = (
    select json_group_object(key, json(value)) from json_each(${merged}) where value <> '{}')`);
  if (!merge) changes.push(sql`lang = coalesce(${param("lang")}, lang)`);
  if (names.includes("status")) {
    changes.push(sql`published_at = case when ${param("status")} = 'published' then coalesce(published_at, ${param("now")})
      else published_at end`);
  }
  changes.push(sql`updated_at = ${param("now")}`, sql`version = version + 1`);
  const guards = [living, sql`version = coalesce(${param("ifMatch")}, version)`];
  if (own.length > 0) guards.push(sql`not has_variants`);
  if (merged) {
    guards.push(
      sql`(select count(*) from json_each(${merged}) where value <> '{}') <= ${sql.raw(String(maxLanguages))}`,
    );
  }
  if (names.includes("translations")) {
    const lang = merge ? sql.raw("lang") : sql`coalesce(${param("lang")}, lang)`;
    guards.push(sql`json_type(${param("translations")}, ${pathOf(lang)}) is null`);
  }
  const made = statement<RenderedProduct>(sql`
    update ${products} set ${sql.join(changes, sql`, `)} where ${sql.join(guards, sql` and `)}
    returning ${servedJson} as json, version, ${servedLanguage} as language`);
  updates.set(key, made);
  return made;
}

/**
 * SQL for whether a text given is the product's own and no translation. Without a language it is what a reader who
 * names none is shown: what was read is what is written.
 */
function isOwnText(text: "title" | "description"): SQL {
  const target = param("target");
  return sql`(lang = ${target} or (${param("isAsked")} = 0
    and json_extract(translations, ${pathOf(sql`${target}`, text)}) is null))`;
}

/**
 * SQL for the translations after a PATCH: those given merged, then the texts given in a language of their own. A language
 * of which no text is left is still in it, empty. Undefined where none is written.
 */
function mergedTranslations(names: (keyof ProductColumns)[]): SQL | undefined {
  const texts = (["title", "description"] as const).filter((name) => names.includes(name));
  const isGiven = names.includes("translations");
  if (texts.length === 0 && !isGiven) return undefined;
  let merged = isGiven ? sql`json_patch(translations, ${param("translations")})` : sql.raw("translations");
  for (const text of texts) {
    merged = sql`json_patch(${merged}, case when ${isOwnText(text)} then '{}' else ${param(`${text}Patch`)} end)`;
  }
  return merged;
}

const selectStanding = statement<{ version: number; lang: string; has_variants: number }>(sql`
  select version, lang, has_variants from ${products} where ${living}`);

async function whyNot(ctx: Ctx, id: string, change: ProductChange, own: readonly string[]): Promise<AppError> {
  const standing = await get(ctx.db, selectStanding, { tenantId: ctx.tenant.id, id });
  if (!standing) return noSuchProduct();
  if (change.ifMatch !== null && change.ifMatch !== standing.version) return preconditionFailed();
  const [field] = own;
  if (standing.has_variants && field) return invalidField(field, "is each variant's own: this product has variants");
  const lang = change.merge ? standing.lang : (change.lang ?? standing.lang);
  const clash = isOwnLanguage(change.columns.translations, lang);
  if (clash || !change.merge) return clash ?? preconditionFailed();
  // Read in the transaction of the write: nothing else can have kept it from being written.
  return invalidField(change.columns.translations === undefined ? "lang" : "translations", tooManyLanguages);
}

/** The validationFailed of translations into the language of the texts themselves; undefined when there are none. */
export function isOwnLanguage(translations: string | undefined, lang: string): AppError | undefined {
  if (translations === undefined || !Object.hasOwn(JSON.parse(translations), lang)) return undefined;
  return invalidField(`translations.${lang}`, "is the language of title and description themselves");
}
