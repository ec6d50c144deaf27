import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, compiledOnce, param, statement } from "../../../db/statement.ts";
import type { ProductFilters } from "./filters.ts";
import { directionOf, titleRank } from "./page-statement.ts";
import { blocksOf } from "./search-words.ts";

interface WindowOptions {
  descending: boolean;
  /** The position after which it begins; undefined at the beginning. */
  after: number | undefined;
  /** Rows that the words and terms have in it, each at most so many. */
  size: number;
  /** Whether products with all words in a title come first. */
  isRanked?: boolean;
}

interface SearchWindow {
  match: string;
  /** Positions are row numbers plus this. */
  rank: number;
  /** The last row number that it can have. */
  low: number;
  /** The position at its end; null if nothing follows. */
  cut: string | null;
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
  const { descending, after, size, isRanked = false } = options;
  const isInTitles = isRanked && (after === undefined || after > titleRank);
  const rank = isInTitles ? titleRank : 0;
  const read = (name: "words" | "titles" | "terms") => JSON.parse(filters[name] ?? "[]") as string[];
  const titles = read("titles");
  const fixed = [...read("words"), ...(isInTitles ? titles : [])];
  const expressions = [...fixed, ...read("terms")];
  const values = { expressions: JSON.stringify(expressions), size, after: after && after - rank };
  const spans = (await all(ctx.db, selectSpans(descending, after !== undefined), values)).map(({ span }, place) => {
    const [least, most, count] = JSON.parse(span) as [number, number, number];
    return { place, count, begin: descending ? most : -least, end: descending ? least : -most };
  });
  // All rows of the rest come after this position.
  if (spans.some(({ count }) => count === 0))
    return isInTitles ? nextWindow(ctx, filters, { ...options, after: titleRank }) : undefined;
  const [rarest] = spans.slice(fixed.length).sort((a, b) => a.count - b.count || a.end - b.end);
  const parts = rarest ? [...fixed, expressions[rarest.place]] : fixed;
  const isWhole = spans.some(({ count }) => count < size);
  const [begin, end] = [Math.min(...spans.map((span) => span.begin)), Math.min(...spans.map((span) => span.end))];
  const blocks = isWhole || parts.length === 1 ? undefined : blocksOf(ctx.tenant.id, Math.abs(begin), Math.abs(end));
  const match = [...parts, ...(blocks === undefined ? [] : [blocks])].join(" AND ");
  const low = isWhole ? (descending ? 0 : titleRank) : Math.abs(end);
  const cut = !isWhole ? low + rank : isInTitles ? titleRank : null;
  return {
    match: isRanked && !isInTitles ? `(${match}) NOT (${titles.join(" AND ")})` : match,
    ...{ rank, low, cut: cut === null ? null : JSON.stringify([cut, ""]) },
  };
}
