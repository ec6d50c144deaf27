import type { Ctx } from "../../../context.ts";
import { get } from "../../../db/statement.ts";
import { countStatement, measureStatement, type PortionRow, portionStatement } from "./list-batch.ts";
import { sortColumns } from "./list-conditions.ts";
import type { ProductFilters } from "./list-filters.ts";
import { type Gathered, type ListShape, type PageRow, ranges, type Source } from "./list-shape.ts";
import { listStatement } from "./list-statement.ts";

/** So few are gathered and sorted at once. */
const fewMatches = 200;
/** More than these are not gathered for a page; they are met on the way in the order of the sort. */
const maxGathered = 2000;
/** How many portions are gone through for one page; behind them it ends short. */
const maxPortions = 10;

type Values = Record<string, unknown> & { limit: number };

/**
 * Finds the page in the way that costs least. Where filters stand on other columns than the sort, few that fit one of
 * them are gathered by its index; many are met soon on the way in order; where neither holds, the page is what lies on a
 * stretch of the way. No statement looks through more than some thousand rows, whatever fits.
 */
export async function findPage(ctx: Ctx, shape: ListShape, values: Values): Promise<PageRow | undefined> {
  const page = (source: Source) => get(ctx.db, listStatement(shape, source), values);
  const { filters } = shape;
  const named = namedBy(filters);
  if (named !== undefined) return page(named);
  const isSearch = filters.match !== undefined;
  const columns = otherColumns(filters, isSearch ? undefined : sortColumns[shape.key]);
  if (columns.length === 0) return page(isSearch ? "match" : "walk");
  const few = await rarest(ctx, columns, filters, values, fewMatches);
  if (few !== undefined) return page(few);
  const first = await get(ctx.db, portionStatement(shape), values);
  if (!first?.cut) return first;
  const some = await rarest(ctx, columns, filters, values, maxGathered);
  return some === undefined ? goOn(ctx, shape, values, first) : page(some);
}

/** Adds portion to portion until the page is full, or enough has been looked through. */
async function goOn(ctx: Ctx, shape: ListShape, values: Values, first: PortionRow): Promise<PageRow> {
  const statement = portionStatement({ ...shape, isContinued: true });
  let page: PortionRow = first;
  let last = first.edge;
  for (let portions = 1; page.cut !== null && page.found < values.limit; portions++) {
    // What the caller may not know of cannot be where the page ends.
    if (portions >= maxPortions && last !== null) return { ...page, last, has_more: 1 };
    await letOthersIn();
    const [value, id] = JSON.parse(page.cut) as [string | number, string];
    const limit = values.limit - page.found;
    const bound = { ...values, value, id, limit, more: limit + 1, lastIndex: limit - 1 };
    const next = await get(ctx.db, statement, bound);
    if (next === undefined) break;
    last = next.edge ?? last;
    page = joinPages(page, next);
  }
  return page.cut === null ? page : { ...page, has_more: 1 };
}

/** A page and the rows behind it as one; where it goes on is where the latter end. */
function joinPages(page: PortionRow, next: PortionRow): PortionRow {
  if (page.json === null) return next;
  if (next.json === null) return { ...next, ...page, last: next.last, cut: next.cut, has_more: next.has_more };
  const tags = [page.first_language, page.last_language, next.first_language, next.last_language] as string[];
  tags.sort();
  return {
    ...next,
    json: `${page.json},${next.json}`,
    first_language: tags[0] as string,
    last_language: tags[3] as string,
    is_unserved: Math.max(page.is_unserved ?? 0, next.is_unserved ?? 0),
    found: page.found + next.found,
  };
}

/**
 * How many fit. Counted in portions between which others are served, so it is exact unless products change meanwhile; in
 * the order of age where it can be, in which no change moves a product from what is counted to what is not.
 */
export async function countMatches(ctx: Ctx, filters: ProductFilters, values: Values): Promise<number> {
  const columns = otherColumns(filters, undefined);
  const few = filters.match === undefined ? await rarest(ctx, columns, filters, values, maxGathered) : undefined;
  const by = few ?? columns.find((column) => column === "status" || column === "created_at") ?? "created_at";
  let total = 0;
  let after: [string | number, string] | undefined;
  do {
    if (after) await letOthersIn();
    const bound = { ...values, value: after?.[0], id: after?.[1] };
    const row = await get(ctx.db, countStatement(by, filters, after !== undefined), bound);
    total += row?.found ?? 0;
    after = row?.cut ? (JSON.parse(row.cut) as [string | number, string]) : undefined;
  } while (after);
  return total;
}

/** Whether a list is one of few that are named. */
export function namedBy(filters: ProductFilters): "ids" | "slug" | undefined {
  return (["ids", "slug"] as const).find((name) => filters[name] !== undefined);
}

/** The columns with filters, apart from that of the sort, and from the status where one index has both. */
function otherColumns(filters: ProductFilters, sorted: string | undefined): Gathered[] {
  const columns: Gathered[] = ranges
    .filter(({ column, from, to }) => column !== sorted && (filters[from] !== undefined || filters[to] !== undefined))
    .map(({ column }) => column);
  if (filters.status !== undefined && sorted !== "created_at") columns.push("status");
  return columns;
}

/** The column whose filter the fewest fit, where these are at most so many. */
async function rarest(
  ctx: Ctx,
  columns: Gathered[],
  filters: ProductFilters,
  values: Values,
  most: number,
): Promise<Gathered | undefined> {
  let least = most + 1;
  let rarest: Gathered | undefined;
  for (const column of columns) {
    const row = await get(ctx.db, measureStatement(column, filters), { ...values, most: least });
    if (row === undefined || row.found >= least) continue;
    least = row.found;
    rarest = column;
    if (least === 0) break;
  }
  return rarest;
}

/** Ends the turn of the event loop, so that others are served. */
function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
