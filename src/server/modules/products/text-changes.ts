import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param } from "../../db/statement.ts";
import { type AppError, invalidField } from "../../errors.ts";
import { columnName, maxLanguages } from "./input.ts";
import { languageChain, pathOf } from "./translation.ts";

/** Texts in several languages: title and description in the language `lang`, and `translations`. */
const texts = ["title", "description", "translations"];

/** Whether a column is written by `textChanges` when a PATCH merges. */
export const isText = (name: string) => texts.includes(name);

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

/**
 * What an update of these columns sets of a record's texts, merging as PATCH does or not, under which conditions, and how
 * the statement starts. `living` is the table of the record and the condition on it.
 */
export function textChanges(names: readonly string[], merge: boolean, living: SQL) {
  const changes: SQL[] = [];
  const guards: SQL[] = [];
  const merged = merge ? mergedTranslations(names) : undefined;
  for (const name of ["title", "description"] as const) {
    if (!merge || !names.includes(name)) continue;
    const column = columnName(name);
    changes.push(sql`${column} = case when ${isOwnText(name)} then ${param(name)} else ${column} end`);
  }
  if (merged) {
    changes.push(sql`translations = (select texts from merged)`);
    guards.push(sql`(select languages from merged) <= ${sql.raw(String(maxLanguages))}`);
  }
  if (!merge) changes.push(sql`lang = coalesce(${param("lang")}, lang)`);
  if (names.includes("translations")) {
    const lang = merge ? sql.raw("lang") : sql`coalesce(${param("lang")}, lang)`;
    guards.push(sql`json_type(${param("translations")}, ${pathOf(lang)}) is null`);
  }
  // Merging large texts takes milliseconds, so it is done once.
  const start = merged
    ? sql`with merged as materialized (select json_group_object(key, json(value)) as texts, count(*) as languages
        from (select ${merged} as merged from ${living}), json_each(merged) where value <> '{}')`
    : sql``;
  return { start, changes, guards };
}

/** SQL for whether a given text is in the record's own language, or is the text that readers without a language see. */
function isOwnText(text: "title" | "description"): SQL {
  const target = param("target");
  return sql`(lang = ${target} or (${param("isAsked")} = 0
    and json_extract(translations, ${pathOf(sql`${target}`, text)}) is null))`;
}

/** SQL for the translations after a PATCH of them, and of texts in another language. Undefined if none is written. */
function mergedTranslations(names: readonly string[]): SQL | undefined {
  const texts = (["title", "description"] as const).filter((name) => names.includes(name));
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
