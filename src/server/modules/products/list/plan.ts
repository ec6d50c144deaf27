import type { Ctx } from "../../../context.ts";
import { get } from "../../../db/statement.ts";
import { freeTurn } from "../../../values/turns.ts";
import { type BatchRow, batchStatement, countStatement, measureStatement } from "./batch-statement.ts";
import { type FilterColumn, type ListShape, ranges, type Source, sortColumns } from "./conditions.ts";
import type { ProductFilters } from "./filters.ts";
import { type PageRow, pageStatement } from "./page-statement.ts";

/** Up to this many matches of a filter are read and sorted at once. */
const fewMatches = 200;
/** Up to this many are read and sorted when one batch in sort order did not fill the page. */
const maxSorted = 2000;
/** Batches scanned for one page. After them the page ends short. */
const maxBatches = 10;

type Values = Record<string, unknown> & { limit: number };

/**
 * Finds a page in the cheapest way: few matches of a filter are read by its index and sorted; otherwise rows are
 * scanned in sort order, batch by batch. No statement scans more than a few thousand rows.
 */
export async function findPage(ctx: Ctx, shape: ListShape, values: Values): Promise<PageRow | undefined> {
  const page = (source: Source) => get(ctx.db, pageStatement(shape, source), values);
  const { filters } = shape;
  const named = namedBy(filters);
  if (named !== undefined) return page(named);
  const isSearch = filters.match !== undefined;
  const columns = filteredColumns(filters, isSearch ? undefined : sortColumns[shape.key]);
  if (columns.length === 0) return page(isSearch ? "match" : "walk");
  const find = (max: number) => rarestColumn(ctx, columns, max, { filters, values });
  const few = await find(fewMatches);
  if (few !== undefined) return page(few);
  const first = await get(ctx.db, batchStatement(shape), values);
  if (!first?.cut || first.is_cut) return first;
  const some = await find(maxSorted);
  return some === undefined ? fillPage(ctx, shape, values, first) : page(some);
}

/** Adds batches until the page is full, or enough have been scanned. */
async function fillPage(ctx: Ctx, shape: ListShape, values: Values, first: BatchRow): Promise<PageRow> {
  const statement = batchStatement({ ...shape, isContinued: true });
  let page: BatchRow = first;
  let last = first.edge;
  for (let batches = 1; page.cut !== null && page.found < values.limit; batches++) {
    // The page can only end at a row that the caller may see.
    if (batches >= maxBatches && last !== null) return { ...page, last, has_more: 1 };
    await freeTurn(ctx.tenant.id);
    const [value, id] = JSON.parse(page.cut) as [string | number, string];
    const limit = values.limit - page.found;
    const bound = { ...values, value, id, limit, more: limit + 1, lastIndex: limit - 1 };
    const next = await get(ctx.db, statement, bound);
    if (next === undefined) break;
    if (next.is_cut) return next;
    last = next.edge ?? last;
    page = joinBatches(page, next);
  }
  return page.cut === null ? page : { ...page, has_more: 1 };
}

function joinBatches(page: BatchRow, next: BatchRow): BatchRow {
  // Of the first batch: what the page shows is never older than its state.
  const { state } = page;
  if (page.json === null) return { ...next, state };
  if (next.json === null) return { ...next, ...page, last: next.last, cut: next.cut, has_more: next.has_more };
  const tags = [page.first_language, page.last_language, next.first_language, next.last_language] as string[];
  tags.sort();
  return {
    ...next,
    state,
    json: `${page.json},${next.json}`,
    first_language: tags[0] as string,
    last_language: tags[3] as string,
    is_unserved: Math.max(page.is_unserved ?? 0, next.is_unserved ?? 0),
    found: page.found + next.found,
  };
}

/** The number of matches, counted in batches between which other requests are served. */
export async function countMatches(ctx: Ctx, filters: ProductFilters, values: Record<string, unknown>) {
  const columns = filteredColumns(filters, undefined);
  const isSearch = filters.match !== undefined;
  const few = isSearch ? undefined : await rarestColumn(ctx, columns, maxSorted, { filters, values });
  const by = few ?? columns.find((column) => column === "status" || column === "created_at") ?? "created_at";
  let total = 0;
  let after: [string | number, string] | undefined;
  do {
    if (after) await freeTurn(ctx.tenant.id);
    const bound = { ...values, value: after?.[0], id: after?.[1] };
    const row = await get(ctx.db, countStatement(by, filters, after !== undefined), bound);
    total += row?.found ?? 0;
    after = row?.cut ? (JSON.parse(row.cut) as [string | number, string]) : undefined;
  } while (after);
  return total;
}

/** The filter that names a few rows. */
export function namedBy(filters: ProductFilters): "ids" | "slug" | undefined {
  return (["ids", "slug"] as const).find((name) => filters[name] !== undefined);
}

/** The columns with filters, except the sort column, and the status if it is in the index of the sort column. */
function filteredColumns(filters: ProductFilters, sorted: string | undefined): FilterColumn[] {
  const columns: FilterColumn[] = ranges
    .filter(({ column, from, to }) => column !== sorted && (filters[from] !== undefined || filters[to] !== undefined))
    .map(({ column }) => column);
  if (filters.status !== undefined && sorted !== "created_at") columns.push("status");
  return columns;
}

/** The column whose filter has the fewest matches, if these are at most `max`. */
async function rarestColumn(
  ctx: Ctx,
  columns: FilterColumn[],
  max: number,
  { filters, values }: { filters: ProductFilters; values: Record<string, unknown> },
): Promise<FilterColumn | undefined> {
  let fewest = max + 1;
  let rarest: FilterColumn | undefined;
  for (const column of columns) {
    const row = await get(ctx.db, measureStatement(column, filters), { ...values, max: fewest });
    if (row === undefined || row.found >= fewest) continue;
    fewest = row.found;
    rarest = column;
    if (fewest === 0) break;
  }
  return rarest;
}
