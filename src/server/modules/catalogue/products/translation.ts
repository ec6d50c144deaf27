import { type SQL, sql } from "drizzle-orm";
import { param } from "../../../db/statement.ts";

/** A parameter of the SQL below. `languageChain` returns its value. */
const languages = param("languages");

/** Returns the preferred languages as a JSON array: the requested one, its parents (`zh-Hant`, `zh`), the store's. */
export function languageChain(lang: string | undefined, tenantLanguage: string): string {
  // The usual case needs no `JSON.stringify`, because a language tag needs no escaping.
  if (lang === undefined) return `["${tenantLanguage}"]`;
  const chain: string[] = [];
  for (let tag = lang; tag !== ""; tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")))) {
    // A single letter or digit only introduces the next subtags (`de-u-co-phonebk`), so no tag may end with it.
    if (!/(?:^|-)[a-z0-9]$/i.test(tag)) chain.push(tag);
  }
  if (!chain.includes(tenantLanguage)) chain.push(tenantLanguage);
  return JSON.stringify(chain);
}

export function pathOf(tag: SQL, text?: "title" | "description"): SQL {
  return sql`'$."' || ${tag} || ${sql.raw(text ? `'".${text}'` : `'"'`)}`;
}

function localizedText(text: "title" | "description"): SQL {
  const column = sql.raw(text);
  return sql`coalesce((select case when value = lang then ${column}
      else json_extract(translations, ${pathOf(sql.raw("value"), text)}) end as found
    from json_each(chain) where found is not null order by key limit 1), ${column})`;
}

const firstLanguage = sql`coalesce((select value from json_each(chain)
  where value = lang or json_extract(translations, ${pathOf(sql.raw("value"), "title")}) is not null
  order by key limit 1), lang)`;

export const localizedLanguage = sql<string>`case when translations = '{}' then lang
  else (select ${firstLanguage} from (select ${languages} as chain)) end`;

export const localizedTitle = sql<string>`case when translations = '{}' then title
  else (select ${localizedText("title")} from (select ${languages} as chain)) end`;

/** SQL for a record's JSON. Each text is in the first of the `languages` that has it, or in the record's language. */
export const localizedJson = (
  document: SQL,
) => sql<string>`case when translations = '{}' or ${languages} = json_array(lang) then ${document} else (
  select json_set(${document}, '$.title', ${localizedText("title")}, '$.description', ${localizedText("description")}, '$.lang', tag,
    '$.translations', json(case when tag = lang then translations else json_remove(
      json_set(translations, ${pathOf(sql.raw("lang"))},
        json_patch('{}', json_object('title', title, 'description', description))),
      ${pathOf(sql.raw("tag"))}) end))
  from (select chain, ${firstLanguage} as tag from (select ${languages} as chain))) end`;
