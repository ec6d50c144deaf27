import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, type CompiledStatement, param, statement } from "../../../db/statement.ts";
import { products } from "../table.ts";
import { type SearchWord, searchWords, stemToken } from "./search-words.ts";
import { stemsNear } from "./stem.ts";

/** Words of one search that are corrected; each takes some hundred look-ups. */
const maxCorrected = 3;
/** Other words that are searched instead of one. */
const maxNear = 8;

// A word counts as known if one of its newest products is visible, so that corrections tell nothing about drafts.
const isKnown = sql`exists (select 1 from
  (select rowid from product_search where product_search match asked.value order by rowid desc limit 50) as hit
  cross join ${products} as p on p.row_number = hit.rowid
  where p.tenant_id = ${param("tenantId")} and p.deleted_at is null and (${param("isOpen")} or p.status = 'published'))`;
const selectUnknown = statement<{ place: number }>(sql`
  select key as place from json_each(${param("asked")}) as asked where not ${isKnown} limit ${param("max")}`);
const selectKnown = statement<{ token: string }>(sql`
  select value as token from json_each(${param("asked")}) as asked where ${isKnown} limit ${param("max")}`);

/**
 * The words of a search that found nothing: one that no visible product has is also searched as the words that are one
 * slip away. Undefined if there are none.
 */
export async function correctWords(ctx: Ctx, q: string, isOpen: boolean): Promise<SearchWord[] | undefined> {
  const words = searchWords(ctx.tenant.id, q);
  const find = <Row>(select: CompiledStatement<Row>, asked: string[], max: number) =>
    all(ctx.db, select, { asked: JSON.stringify(asked), tenantId: ctx.tenant.id, isOpen: isOpen ? 1 : 0, max });
  const anywhere = words.map((word) => word.anywhere);
  let isCorrected = false;
  for (const { place } of await find(selectUnknown, anywhere, maxCorrected)) {
    const given = words[place] as SearchWord;
    const near = given.word === undefined ? [] : stemsNear(given.word);
    const [stems, titles] = (["stem", "title"] as const).map((kind) =>
      near.map((stem) => `"${stemToken(ctx.tenant.id, kind, stem)}"`),
    ) as [string[], string[]];
    const known = stems.length === 0 ? [] : (await find(selectKnown, stems, maxNear)).map(({ token }) => token);
    if (known.length === 0) return undefined;
    words[place] = {
      anywhere: `(${known.join(" OR ")})`,
      inTitle: `(${known.map((token) => titles[stems.indexOf(token)]).join(" OR ")})`,
    };
    isCorrected = true;
  }
  return isCorrected ? words : undefined;
}
