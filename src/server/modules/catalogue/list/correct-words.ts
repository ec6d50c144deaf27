import { sql } from "drizzle-orm";
import { isTickOverBudget, nextTurn } from "../../../concurrency/event-loop.ts";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { all, param, statement } from "../../../db/statement.ts";
import { products } from "../products/table.ts";
import { minStem, type SearchWord, searchWords, stemOf, stemToken } from "./search-words.ts";

const alphabets = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"];
/** Longer words are not corrected, because each letter adds fifty spellings. */
const longestCorrected = 16;
/** Maximum corrected words of a search; each takes some hundred look-ups. */
const maxCorrected = 3;
const maxNear = 8;
/** Look-ups in one turn of the event loop. All of them at once would delay others for many milliseconds. */
const lookUps = 50;

// A word counts as known if one of its newest products is visible, so that corrections reveal nothing about drafts.
const isKnown = sql`exists (select 1 from
  (select rowid from product_search where product_search match asked.value order by rowid desc limit 50) as hit
  cross join ${products} as p on p.row_number = hit.rowid
  where p.tenant_id = ${param("tenantId")} and p.deleted_at is null and (${param("includesDrafts")} or p.status = 'published'))`;
const select = statement<{ place: number }>(sql`
  select key as place from json_each(${param("asked")}) as asked where ${isKnown} = ${param("known")} limit ${param("max")}`);

/** The indexes of expressions that some visible product has (`known` 1), or none (0). */
export async function findPlaces(ctx: Ctx, expressions: string[], known: 0 | 1, max: number): Promise<number[]> {
  const asked = JSON.stringify(expressions);
  const values = { tenantId: ctx.tenant.id, includesDrafts: isCatalogOnly(ctx) ? 0 : 1, asked, known, max };
  return (await all(ctx.db, select, values)).map(({ place }) => place);
}

/** The words of a search. Unknown ones are also searched as known words that differ by one letter. */
export async function correctWords(ctx: Ctx, q: string): Promise<SearchWord[]> {
  const words = searchWords(ctx.tenant.id, q);
  const anywhere = words.map((word) => word.anywhere);
  for (const place of await findPlaces(ctx, anywhere, 0, isTickOverBudget() ? 1 : maxCorrected)) {
    const { word, ...given } = words[place] as SearchWord;
    const near = word === undefined ? [] : stemsNear(word);
    if (near.length === 0) continue;
    const tokensOf = (kind: "stem" | "title", stems: string[]) =>
      stems.map((stem) => `"${stemToken(ctx.tenant.id, kind, stem)}"`);
    const known: string[] = [];
    for (let from = 0; from < near.length && known.length < maxNear; from += lookUps) {
      await nextTurn();
      const stems = near.slice(from, from + lookUps);
      const places = await findPlaces(ctx, tokensOf("stem", stems), 1, maxNear - known.length);
      known.push(...places.map((at) => stems[at] as string));
    }
    const withNear = (one: string, kind: "stem" | "title") => `(${[one, ...tokensOf(kind, known)].join(" OR ")})`;
    words[place] = { anywhere: withNear(given.anywhere, "stem"), inTitle: withNear(given.inTitle, "title") };
  }
  return words;
}

/** The stems of all words that differ by one letter, not the first. Empty for short and long words. */
function stemsNear(word: string): string[] {
  const alphabet = alphabets.find((letters) => [...word].every((letter) => letters.includes(letter)));
  if (word.length < minStem || word.length > longestCorrected || alphabet === undefined) return [];
  const near = new Set<string>();
  for (let at = 1; at <= word.length; at++) {
    const [start, end] = [word.slice(0, at), word.slice(at)];
    if (end !== "") near.add(stemOf(start + end.slice(1)));
    if (end.length > 1) near.add(stemOf(start + end[1] + end[0] + end.slice(2)));
    for (const letter of alphabet) {
      near.add(stemOf(start + letter + end));
      if (end !== "") near.add(stemOf(start + letter + end.slice(1)));
    }
  }
  return [...near];
}
