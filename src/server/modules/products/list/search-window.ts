import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, compiledOnce, param, statement } from "../../../db/statement.ts";
import { directionOf } from "./conditions.ts";
import type { ProductFilters } from "./filters.ts";
import { blocksOf } from "./search-words.ts";

/** What one statement reads of the search index: the matches of an expression, up to a row number. */
export interface SearchWindow {
  match: string;
  /** The last row number of the window; null if it reaches to the end. */
  low: number | null;
}

/** The part of an order by relevance in which all words are in titles, or the rest. */
export type Tier = "titles" | "rest" | undefined;

interface WindowOptions {
  descending: boolean;
  /** The row number after which it begins; undefined at the beginning. */
  after: number | undefined;
  /** Rows that the words and terms have in it, each at most so many. */
  size: number;
  tier?: Tier;
}

const selectSpans = (descending: boolean, isContinued: boolean) =>
  compiledOnce(`spans ${descending} ${isContinued}`, () => {
    const after = sql`and rowid ${sql.raw(descending ? "<" : ">")} cast(${param("after")} as integer)`;
    return statement<{ span: string }>(sql`
      select (select json_array(min(number), max(number), count(*)) from (
        select rowid as number from product_search where product_search match one.value ${isContinued ? after : sql``}
        order by rowid ${directionOf(descending)} limit cast(${param("size")} as integer))) as span
      from json_each(${param("expressions")}) as one order by one.key`);
  });

/**
 * The next window of a search, in which its rarest word or term has at most `size` rows; undefined if nothing follows.
 * The expression has all words and the rarest term; the other terms are checked on the rows. To intersect two of them,
 * FTS5 seeks in each in turn, from its very beginning, so the blocks of the window are part of the expression.
 */
export async function nextWindow(
  ctx: Ctx,
  filters: ProductFilters,
  options: WindowOptions,
): Promise<SearchWindow | undefined> {
  const { descending, after, size, tier } = options;
  const [words, titles, terms] = [filters.words, filters.titles, filters.terms].map(
    (text) => JSON.parse(text ?? "[]") as string[],
  );
  const fixed = [...(words as string[]), ...(tier === "titles" ? (titles as string[]) : [])];
  const expressions = JSON.stringify([...fixed, ...(terms as string[])]);
  const rows = await all(ctx.db, selectSpans(descending, after !== undefined), { expressions, size, after });
  const spans = rows.map(({ span }) => {
    const [least, most, count] = JSON.parse(span) as [number, number, number];
    return { count, begin: descending ? most : -least, end: descending ? least : -most };
  });
  if (spans.some(({ count }) => count === 0)) return undefined;
  const places = (terms as string[]).map((_, index) => fixed.length + index);
  const isRarer = (one: number, other: number) => {
    const [a, b] = [spans[one], spans[other]] as [(typeof spans)[0], (typeof spans)[0]];
    return a.count < b.count || (a.count === b.count && a.end < b.end);
  };
  const rarest = places.reduce<number | undefined>(
    (best, place) => (best === undefined || isRarer(place, best) ? place : best),
    undefined,
  );
  const parts = rarest === undefined ? fixed : [...fixed, (terms as string[])[rarest - fixed.length] as string];
  const isWhole = spans.some(({ count }) => count < size);
  const [begin, end] = [Math.min(...spans.map((span) => span.begin)), Math.min(...spans.map((span) => span.end))];
  const blocks = isWhole || parts.length === 1 ? undefined : blocksOf(ctx.tenant.id, Math.abs(begin), Math.abs(end));
  const match = [...parts, ...(blocks === undefined ? [] : [blocks])].join(" AND ");
  return {
    match: tier === "rest" ? `(${match}) NOT (${(titles as string[]).join(" AND ")})` : match,
    low: isWhole ? null : Math.abs(end),
  };
}
