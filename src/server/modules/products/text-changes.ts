import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { type CompiledStatement, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField } from "../../errors.ts";
import { columnName, maxLanguages } from "./input.ts";
import type { RenderedProduct } from "./rendering.ts";
import { languageChain, pathOf, servedJson, servedLanguage } from "./translation.ts";

/** The parameters of `textChanges`; `lang` is the language of the given texts, if the caller named one. */
export function textValues(
  ctx: Ctx,
  columns: { title?: string; description?: string | null },
  lang: string | undefined,
) {
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
  /** The table of the record. */
  table: SQL;
  /** The condition on the record. */
  living: SQL;
  /** SQL for the record as JSON text. */
  json: SQL;
  /** Merge as PATCH does, or replace as PUT does. */
  merge: boolean;
  /** How columns are changed that are not just replaced. */
  special?: Record<string, SQL>;
  guards?: SQL[];
}

/** An update of these columns of a record with texts: title and description in the language `lang`, and `translations`. */
export function updateStatement(names: readonly string[], update: TextUpdate): CompiledStatement<RenderedProduct> {
  const { table, living, json, merge, special = {}, guards = [] } = update;
  const merged = merge ? mergedTranslations(names) : undefined;
  const all = [living, sql`version = coalesce(${param("ifMatch")}, version)`, ...guards];
  const changes = Object.values({
    ...Object.fromEntries(names.map((name) => [name, sql`${columnName(name)} = ${param(name)}`])),
    ...(merge && Object.fromEntries(textsOf(names).map((name) => [name, ownText(name)]))),
    ...special,
    ...(merged && { translations: sql`translations = (select texts from merged)` }),
    ...(!merge && { lang: sql`lang = coalesce(${param("lang")}, lang)` }),
  });
  if (merged) all.push(sql`(select languages from merged) <= ${sql.raw(String(maxLanguages))}`);
  if (names.includes("translations")) {
    const lang = merge ? sql.raw("lang") : sql`coalesce(${param("lang")}, lang)`;
    all.push(sql`json_type(${param("translations")}, ${pathOf(lang)}) is null`);
  }
  // Merging large texts takes milliseconds, so it is done once.
  const start = merged
    ? sql`with merged as materialized (select json_group_object(key, json(value)) as texts, count(*) as languages
        from (select ${merged} as merged from ${table} where ${living}), json_each(merged) where value <> '{}')`
    : sql``;
  return statement(sql`${start}
    update ${table} set ${sql.join(changes, sql`, `)}, updated_at = ${param("now")}, version = version + 1
    where ${sql.join(all, sql` and `)}
    returning ${servedJson(json)} as json, version, ${servedLanguage} as language`);
}

const textsOf = (names: readonly string[]) =>
  (["title", "description"] as const).filter((name) => names.includes(name));

/** The change of a text that a PATCH writes only if it is the record's own. */
function ownText(text: "title" | "description"): SQL {
  const column = sql.raw(text);
  return sql`${column} = case when ${isOwnText(text)} then ${param(text)} else ${column} end`;
}

/** SQL for whether a given text is in the record's own language, or is the text that readers without a language see. */
function isOwnText(text: "title" | "description"): SQL {
  const target = param("target");
  return sql`(lang = ${target} or (${param("isAsked")} = 0
    and json_extract(translations, ${pathOf(sql`${target}`, text)}) is null))`;
}

/** SQL for the translations after a PATCH of them, and of texts in another language. Undefined if none is written. */
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

/** The error of translations that include the record's own language; undefined if they do not. */
export function ownLanguageError(translations: string | undefined, lang: string): AppError | undefined {
  // Most texts have no such name in any place, so that they need not be parsed.
  if (!translations?.includes(`"${lang}":`) || !Object.hasOwn(JSON.parse(translations), lang)) return undefined;
  return invalidField(
    `translations.${lang}`,
    "is the language of title and description. Send its texts in title and description",
  );
}
