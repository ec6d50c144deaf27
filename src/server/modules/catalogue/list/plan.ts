import { sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../concurrency/event-loop.ts";
import type { Ctx } from "../../../context.ts";
import { get, param, statement } from "../../../db/statement.ts";
import { productCounts } from "../products/table.ts";
import { type BatchRow, batchStatement, measureStatement, rowsOf, scanStatement, sizes } from "./batch-statement.ts";
import type { ProductFilters } from "./filters.ts";
import {
  type FilterColumn,
  hasOrder,
  type ListPlan,
  type PageRow,
  pageStatement,
  ranges,
  type Source,
  sortColumns,
} from "./page-statement.ts";
import { nextWindow } from "./search-window.ts";

/** Up to this many matches of a filter are read and sorted at once. */
const fewMatches = 200;
/** Up to this many matches are read and sorted when one batch in sort order did not fill the page. */
const maxSorted = 2000;
/** Matches that are counted; of more, lists say that there are at least so many. */
const maxCounted = 10_000;
const maxScans = 20;

/** Rows scanned for one page. After them the page ends short. */
const maxRows = 20_000;

/** Rows that each term of a search may have in the first batch of a page, and in later ones. */
const windows = { first: 200, later: 2000 };

type Values = Record<string, unknown> & { limit: number };

/** Few matches of a filter are sorted; otherwise batches of rows are scanned in sort order, of a few thousand each. */
export async function findPage(ctx: Ctx, shape: ListPlan, values: Values): Promise<PageRow | undefined> {
  const page = (source: Source, more: object = {}) => get(ctx.db, pageStatement(shape, source), { ...values, ...more });
  const { filters } = shape;
  const named = uniqueFilter(filters);
  if (named !== undefined) return page(named);
  const isSearch = filters.terms !== undefined;
  const columns = filteredColumns(filters, isSearch ? undefined : sortColumns[shape.key]);
  if (!isSearch && columns.length === 0 && !filters.available) return page("walk");
  const find = (max: number) => rarestColumn(ctx, filters, columns, max);
  const few = await find(fewMatches);
  if (few !== undefined) return page(few);
  if (hasOrder(shape)) return fillPage(ctx, shape, values);
  const collect = async (isBrief: boolean) => {
    const options = { by: "created_at", part: "numbers", max: maxSorted, isBrief } as const;
    const { found, isWhole, matches } = await scan(ctx, filters, options);
    return isWhole && found <= maxSorted ? page("numbers", { numbers: JSON.stringify(matches) }) : undefined;
  };
  const rare = isSearch ? await collect(true) : undefined;
  if (rare !== undefined) return rare;
  const first = await get(ctx.db, batchStatement(shape), values);
  if (!first?.cut || first.is_cut) return first;
  const some = isSearch ? undefined : await find(maxSorted);
  const sorted = isSearch ? await collect(false) : some && (await page(some));
  return sorted ?? fillPage(ctx, shape, values, first);
}

/** Adds batches until the page is full, or enough have been scanned. Those of the search index are its windows. */
async function fillPage(ctx: Ctx, shape: ListPlan, values: Values, first?: BatchRow): Promise<PageRow | undefined> {
  const { filters, descending, key } = shape;
  let page = first;
  let last = first?.edge ?? null;
  for (let batches = first ? 1 : 0; !page || (page.cut !== null && page.found < values.limit); batches++) {
    // The page can only end at a row that the caller may see.
    if (page && batches * rowsOf(shape) >= maxRows && last !== null) return { ...page, last, has_more: 1 };
    if (batches > 0) await yieldToEventLoop(ctx.tenant.id, ctx);
    const [value, id] = page?.cut ? (JSON.parse(page.cut) as [string | number, string]) : [values.value, values.id];
    const after = value === undefined ? undefined : Number(value);
    const size = batches === 0 ? windows.first : windows.later;
    const options = { descending, after, size, isRanked: key === "relevance" };
    const window = hasOrder(shape) ? await nextWindow(ctx, filters, options) : {};
    if (window === undefined) return page;
    const limit = values.limit - (page?.found ?? 0);
    const bounds = { limit, more: limit + 1, lastIndex: limit - 1 };
    const statement = batchStatement({ ...shape, isContinued: value !== undefined });
    const next = await get(ctx.db, statement, { ...values, ...bounds, ...window, value, id });
    if (!next || next.is_cut) return next;
    last = next.edge ?? last;
    page = page ? joinBatches(page, next) : next;
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
    needsLocalization: Math.max(page.needsLocalization ?? 0, next.needsLocalization ?? 0),
    found: page.found + next.found,
  };
}

export function uniqueFilter(filters: ProductFilters): "ids" | "slug" | undefined {
  return (["ids", "slug"] as const).find((name) => filters[name] !== undefined);
}

const selectCount = statement<{ products: number }>(sql`
  select coalesce(sum(products), 0) as products from ${productCounts}
  where tenant_id = ${param("tenantId")} and status = coalesce(${param("status")}, status)`);

/** The number of matches: exact if there are no filters but the status, otherwise up to the limit of `scanMatches`. */
export async function countMatches(ctx: Ctx, filters: ProductFilters | null) {
  if (filters === null) return { found: 0, isWhole: true };
  const { status = null, ...others } = filters;
  if (Object.keys(others).length > 0) return scanMatches(ctx, filters);
  const row = await get(ctx.db, selectCount, { tenantId: ctx.tenant.id, status });
  return { found: row?.products ?? 0, isWhole: true };
}

/** Counts up to `maxCounted` matches, or those of the first `maxScans` batches, and returns parts of each. */
export async function scanMatches(ctx: Ctx, filters: ProductFilters, part?: "facets") {
  const columns = filteredColumns(filters, undefined);
  const few = filters.terms ? undefined : await rarestColumn(ctx, filters, columns, maxSorted);
  const by =
    few ?? (columns.find((column) => column === "status" || column === "created_at") || columns[0]) ?? "created_at";
  return scan(ctx, filters, { by, part, max: maxCounted });
}

/** Scans until there are more than `max` matches. With `isBrief`, one window of a search only if nothing follows it. */
async function scan(
  ctx: Ctx,
  filters: ProductFilters,
  scan: { by: FilterColumn; part?: "numbers" | "facets" | undefined; max: number; isBrief?: boolean },
) {
  const { by, part, max, isBrief } = scan;
  const size = part === "facets" ? sizes.returned : sizes.scanned;
  const matches: unknown[] = [];
  let found = 0;
  let after: [string | number, string] | undefined;
  for (let batches = 1; ; batches++) {
    if (after) await yieldToEventLoop(ctx.tenant.id, ctx);
    const bounds = { descending: true, after: after && Number(after[0]), size: size + 1 };
    const window = filters.terms === undefined ? {} : await nextWindow(ctx, filters, bounds);
    if (window === undefined) return { found, isWhole: true, matches };
    if (isBrief && "cut" in window && window.cut !== null) return { found, isWhole: false, matches };
    const values = { ...filters, ...window, tenantId: ctx.tenant.id, value: after?.[0], id: after?.[1] };
    const row = await get(ctx.db, scanStatement(by, filters, { isContinued: after !== undefined, part }), values);
    found += row?.found ?? 0;
    if (row?.matches) matches.push(...(JSON.parse(row.matches) as unknown[]));
    after = row?.cut ? (JSON.parse(row.cut) as [string | number, string]) : undefined;
    if (after === undefined) return { found, isWhole: true, matches };
    if (found > max || batches >= maxScans) return { found, isWhole: false, matches };
  }
}

/** The columns with filters that neither the sort column's index nor the search index has. */
function filteredColumns(filters: ProductFilters, sorted: string | undefined): FilterColumn[] {
  const columns: FilterColumn[] = ranges
    .filter(({ column, from, to }) => column !== sorted && (filters[from] !== undefined || filters[to] !== undefined))
    .map(({ column }) => column);
  if (filters.status !== undefined && sorted !== "created_at" && filters.terms === undefined) columns.push("status");
  return columns;
}

async function rarestColumn(
  ctx: Ctx,
  filters: ProductFilters,
  columns: FilterColumn[],
  max: number,
): Promise<FilterColumn | undefined> {
  let fewest = max + 1;
  let rarest: FilterColumn | undefined;
  for (const column of columns) {
    const values = { ...filters, tenantId: ctx.tenant.id, max: fewest };
    const row = await get(ctx.db, measureStatement(column, filters), values);
    if (row === undefined || row.found >= fewest) continue;
    fewest = row.found;
    rarest = column;
    if (fewest === 0) break;
  }
  return rarest;
}
