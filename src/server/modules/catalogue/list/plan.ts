import { sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../concurrency/event-loop.ts";
import type { Ctx } from "../../../context.ts";
import { get, param, statement } from "../../../db/statement.ts";
import { productCounts } from "../products/table.ts";
import { type BatchRow, batchSize, batchStatement, measureStatement, scanStatement, sizes } from "./batch-statement.ts";
import type { ProductFilters } from "./filters.ts";
import type { FilterColumn, ListPlan, PageRow, Source } from "./page-statement.ts";
import { boundsOf, pageStatement, rangeColumns, searchHasOrder, sortColumns } from "./page-statement.ts";
import { nextWindow } from "./search-window.ts";

/** Up to this many matches of a filter are read and sorted at once. */
const fewMatches = 200;
/** If one batch in sort order does not fill the page, up to this many matches are read and sorted instead. */
const maxSorted = 2000;
/** Counting stops after this many matches. Lists then return the count as a lower bound. */
const maxCounted = 10_000;
const maxScans = 20;
/** After this many scanned rows, a page ends even if it is not full. */
const maxRows = 20_000;
/** A window has at most this many rows with the rarest word of the search: the first window of a page, and later ones. */
const windows = { first: 200, later: 2000 };

type Values = Record<string, unknown> & { limit: number };

/** Finds a page. If a filter has few matches, sorts them; if it has many, scans batches in sort order. */
export async function findPage(ctx: Ctx, plan: ListPlan, values: Values): Promise<PageRow | undefined> {
  const { filters } = plan;
  const named = uniqueFilter(filters);
  if (named !== undefined) return readPage(ctx, plan, named, values);
  const isSearch = filters.terms !== undefined;
  const columns = filteredColumns(filters, isSearch ? undefined : sortColumns[plan.key]);
  if (!isSearch && columns.length === 0 && !filters.available) return readPage(ctx, plan, "index-scan", values);
  const few = await rarestColumn(ctx, filters, columns, fewMatches);
  if (few !== undefined) return readPage(ctx, plan, few, values);
  return searchHasOrder(plan) ? fillPage(ctx, plan, values) : scanOrSort(ctx, plan, values, columns);
}

/** Finds a page for which no index has both the filters and the order. */
async function scanOrSort(ctx: Ctx, plan: ListPlan, values: Values, columns: FilterColumn[]) {
  const isSearch = plan.filters.terms !== undefined;
  const rare = isSearch ? await sortMatches(ctx, plan, values, true) : undefined;
  if (rare !== undefined) return rare;
  const first = await get(ctx.db, batchStatement(plan), values);
  if (!first?.scanCursor || first.exceeds_bytes) return first;
  if (isSearch) return (await sortMatches(ctx, plan, values, false)) ?? fillPage(ctx, plan, values, first);
  const some = await rarestColumn(ctx, plan.filters, columns, maxSorted);
  return some === undefined ? fillPage(ctx, plan, values, first) : readPage(ctx, plan, some, values);
}

function readPage(ctx: Ctx, plan: ListPlan, source: Source, values: Values): Promise<PageRow | undefined> {
  return get(ctx.db, pageStatement(plan, source), values);
}

/** Sorts the matches of a search in an order that the search index does not have; undefined if there are too many. */
async function sortMatches(ctx: Ctx, plan: ListPlan, values: Values, isBrief: boolean) {
  const options = { by: "created_at", part: "numbers", max: maxSorted, isBrief } as const;
  const { found, isWhole, matches } = await scan(ctx, plan.filters, options);
  if (!isWhole || found > maxSorted) return undefined;
  return readPage(ctx, plan, "numbers", { ...values, numbers: JSON.stringify(matches) });
}

/** Adds batches to a page until it is full or enough rows were scanned. In the search index, a batch is a window. */
async function fillPage(ctx: Ctx, plan: ListPlan, values: Values, first?: BatchRow): Promise<PageRow | undefined> {
  const begun = first ?? (await readBatch(ctx, plan, values));
  if (!begun || begun.exceeds_bytes) return begun;
  let page = begun;
  for (let batches = 1; page.scanCursor !== null && page.found < values.limit; batches++) {
    // The cursor contains values of the last row, so a page must end at a row that the caller may see.
    const last = page.lastVisibleCursor;
    if (batches * batchSize(plan) >= maxRows && last !== null) return { ...page, last, has_more: 1 };
    await yieldToEventLoop(ctx.tenant.id, ctx);
    const next = await readBatch(ctx, plan, values, page);
    if (next === undefined) return page;
    if (next.exceeds_bytes) return next;
    page = joinBatches(page, next);
  }
  return page.scanCursor === null ? page : { ...page, has_more: 1 };
}

/** Reads the first batch, or the batch after `page`. Returns undefined if a search has no further window. */
async function readBatch(ctx: Ctx, plan: ListPlan, values: Values, page?: BatchRow): Promise<BatchRow | undefined> {
  const { filters, descending, key } = plan;
  const [value, id] = page?.scanCursor ? parsePosition(page.scanCursor) : [values.value, values.id];
  const after = value === undefined ? undefined : Number(value);
  const size = page ? windows.later : windows.first;
  const options = { descending, after, size, isRanked: key === "relevance" };
  const window = await nextWindow(ctx, searchHasOrder(plan) ? filters : {}, options);
  if (window === undefined) return undefined;
  const limit = values.limit - (page?.found ?? 0);
  const bounds = { limit, more: limit + 1, lastIndex: limit - 1 };
  const statement = batchStatement({ ...plan, isContinued: value !== undefined });
  return get(ctx.db, statement, { ...values, ...bounds, ...window, value, id });
}

type Position = [value: string | number, id: string];
const parsePosition = (cursor: string) => JSON.parse(cursor) as Position;

function joinBatches(page: BatchRow, next: BatchRow): BatchRow {
  const lastVisibleCursor = next.lastVisibleCursor ?? page.lastVisibleCursor;
  // The state is that of the first batch, because the ETag must not be newer than any part of the page.
  const { state } = page;
  if (page.json === null) return { ...next, state, lastVisibleCursor };
  const { last, scanCursor, has_more } = next;
  if (next.json === null) return { ...page, last, scanCursor, has_more, lastVisibleCursor };
  return {
    ...next,
    state,
    lastVisibleCursor,
    json: `${page.json},${next.json}`,
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

/** Counts the matches. With a filter other than the status, stops as early as `scanMatches`. */
export async function countMatches(ctx: Ctx, filters: ProductFilters | null) {
  if (filters === null) return { found: 0, isWhole: true };
  const { status = null, ...others } = filters;
  if (Object.keys(others).length > 0) return scanMatches(ctx, filters);
  const row = await get(ctx.db, selectCount, { tenantId: ctx.tenant.id, status });
  return { found: row?.products ?? 0, isWhole: true };
}

/** Counts matches until there are more than `maxCounted`, in at most `maxScans` scans. Returns `part` of each match. */
export async function scanMatches(ctx: Ctx, filters: ProductFilters, part?: "facets") {
  const columns = filteredColumns(filters, undefined);
  const few = filters.terms ? undefined : await rarestColumn(ctx, filters, columns, maxSorted);
  const by =
    few ?? (columns.find((column) => column === "status" || column === "created_at") || columns[0]) ?? "created_at";
  return scan(ctx, filters, { by, part, max: maxCounted });
}

interface ScanOptions {
  by: FilterColumn;
  part?: "numbers" | "facets" | undefined;
  max: number;
  isBrief?: boolean;
}

/** Scans until there are more than `max` matches. With `isBrief`, scans only if one window has all matches. */
async function scan(ctx: Ctx, filters: ProductFilters, { by, part, max, isBrief }: ScanOptions) {
  const size = part === "facets" ? sizes.returned : sizes.scanned;
  const matches: unknown[] = [];
  let found = 0;
  let position: Position | undefined;
  for (let batches = 1; ; batches++) {
    const bounds = { descending: true, after: position && Number(position[0]), size: size + 1 };
    const window = await nextWindow(ctx, filters, bounds);
    if (window === undefined) return { found, isWhole: true, matches };
    if (isBrief && window.scanCursor != null) return { found, isWhole: false, matches };
    const values = { ...filters, ...window, tenantId: ctx.tenant.id, value: position?.[0], id: position?.[1] };
    const row = await get(ctx.db, scanStatement(by, filters, { isContinued: position !== undefined, part }), values);
    found += row?.found ?? 0;
    matches.push(...JSON.parse(row?.matches ?? "[]"));
    if (!row?.scanCursor) return { found, isWhole: true, matches };
    position = parsePosition(row.scanCursor);
    if (found > max || batches >= maxScans) return { found, isWhole: false, matches };
    await yieldToEventLoop(ctx.tenant.id, ctx);
  }
}

/** Returns the columns with a filter that neither the index of the sort column nor the search index checks. */
function filteredColumns(filters: ProductFilters, sorted: string | undefined): FilterColumn[] {
  const columns: FilterColumn[] = rangeColumns.filter(
    (column) => column !== sorted && boundsOf(filters, column).length > 0,
  );
  if (filters.status !== undefined && sorted !== "created_at" && filters.terms === undefined) columns.push("status");
  return columns;
}

async function rarestColumn(ctx: Ctx, filters: ProductFilters, columns: FilterColumn[], max: number) {
  let fewest = max + 1;
  let rarest: FilterColumn | undefined;
  for (const column of columns) {
    const values = { ...filters, tenantId: ctx.tenant.id, max: fewest };
    const { found = fewest } = (await get(ctx.db, measureStatement(column, filters), values)) ?? {};
    if (found < fewest) rarest = column;
    fewest = Math.min(fewest, found);
    if (fewest === 0) break;
  }
  return rarest;
}
