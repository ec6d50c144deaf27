import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, compiledOnce, param, statement } from "../../../db/statement.ts";
import type { ProductFilters } from "./filters.ts";
import { directionOf, firstTitlePosition } from "./page-statement.ts";
import { blocksOf } from "./search-words.ts";

interface WindowOptions {
  descending: boolean;
  /** The position after which the window begins; undefined at the beginning. */
  after: number | undefined;
  /** The maximum number of rows of the rarest word or term in the window. */
  size: number;
  /** Whether products with all words in a title come first. */
  isRanked?: boolean;
}

interface SearchWindow {
  match: string;
  /** The position of a row is this offset plus the row number. */
  titleOffset: number;
  lastRow: number;
  /** The position at the window's end; null if nothing follows. */
  scanCursor: string | null;
}

type NextWindow = Partial<SearchWindow> | undefined;

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
 * Reads the next rows of each expression, at most `size`. Returns their number, and the first and last position. An
 * ascending scan negates positions, so that they always decrease. So the smallest `end` is the farthest.
 */
async function readSpans(ctx: Ctx, expressions: readonly string[], { descending, after, size }: WindowOptions) {
  const values = { expressions: JSON.stringify(expressions), size, after };
  const rows = await all(ctx.db, selectSpans(descending, after !== undefined), values);
  return rows.map(({ span }, place) => {
    const [min, max, count] = JSON.parse(span) as [number, number, number];
    return { place, count, begin: descending ? max : -min, end: descending ? min : -max };
  });
}

/** Returns the next window of a search (see README.md); undefined if no rows follow; `{}` for a list without search. */
export async function nextWindow(ctx: Ctx, filters: ProductFilters, options: WindowOptions): Promise<NextWindow> {
  if (filters.terms === undefined) return {};
  const { descending, after, size, isRanked = false } = options;
  const isInTitles = isRanked && (after === undefined || after > firstTitlePosition);
  const titleOffset = isInTitles ? firstTitlePosition : 0;
  const [words, titles, terms] = (["words", "titles", "terms"] as const).map(
    (name) => JSON.parse(filters[name] ?? "[]") as string[],
  ) as [string[], string[], string[]];
  const required = isInTitles ? [...words, ...titles] : words;
  const expressions = [...required, ...terms];
  const spans = await readSpans(ctx, expressions, { descending, size, after: after && after - titleOffset });
  if (spans.some(({ count }) => count === 0)) {
    return isInTitles ? nextWindow(ctx, filters, { ...options, after: firstTitlePosition }) : undefined;
  }
  const [rarest] = spans.slice(required.length).sort((a, b) => a.count - b.count || a.end - b.end);
  const parts = rarest ? [...required, expressions[rarest.place] as string] : required;
  const isLast = spans.some(({ count }) => count < size);
  const [begin, end] = [Math.min(...spans.map((span) => span.begin)), Math.min(...spans.map((span) => span.end))];
  const blocks = isLast || parts.length === 1 ? [] : blocksOf(ctx.tenant.id, Math.abs(begin), Math.abs(end));
  const match = [...parts, ...blocks].join(" AND ");
  return {
    match: isRanked && !isInTitles ? `(${match}) NOT (${titles.join(" AND ")})` : match,
    titleOffset,
    ...boundsAt(isLast ? undefined : Math.abs(end), titleOffset, descending),
  };
}

/** Without `end`, the window reaches to the end of the index. Products whose titles match come before all others. */
function boundsAt(end: number | undefined, titleOffset: number, descending: boolean) {
  const isEnd = end === undefined && titleOffset === 0;
  return {
    lastRow: end ?? (descending ? 0 : firstTitlePosition),
    scanCursor: isEnd ? null : JSON.stringify([(end ?? 0) + titleOffset, ""]),
  };
}
