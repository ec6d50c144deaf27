import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { get, param, statement } from "../../../db/statement.ts";
import { freeTurn } from "../../../values/turns.ts";
import { productCounts } from "../table.ts";
import { measureStatement, returnedRows, scannedRows, scanStatement } from "./batch-statement.ts";
import { type FilterColumn, ranges } from "./conditions.ts";
import type { ProductFilters } from "./filters.ts";
import { nextWindow } from "./search-window.ts";

/** Up to this many matches are read and sorted when one batch in sort order did not fill the page. */
export const maxSorted = 2000;
/** Matches that are counted; of more, lists say that there are at least so many. */
const maxCounted = 10_000;
/** Batches in which they are looked for. */
const maxScans = 20;

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

/** Counts the matches up to `maxCounted`, or among the first rows that so many batches scan, and returns parts of each. */
export async function scanMatches(ctx: Ctx, filters: ProductFilters, part?: "facets") {
  const columns = filteredColumns(filters, undefined);
  const few = filters.terms ? undefined : await rarestColumn(ctx, filters, columns, maxSorted);
  const by =
    few ?? (columns.find((column) => column === "status" || column === "created_at") || columns[0]) ?? "created_at";
  return scan(ctx, filters, { by, part, max: maxCounted });
}

/**
 * Scans matches until there are more than `max`, in batches between which other requests are served.
 * @param scan `isBrief`: whether to scan one window of a search only if nothing follows it.
 */
export async function scan(
  ctx: Ctx,
  filters: ProductFilters,
  scan: { by: FilterColumn; part?: "numbers" | "facets" | undefined; max: number; isBrief?: boolean },
) {
  const { by, part, max, isBrief } = scan;
  const size = part === "facets" ? returnedRows : scannedRows;
  const matches: unknown[] = [];
  let found = 0;
  let after: [string | number, string] | undefined;
  for (let batches = 1; ; batches++) {
    if (after) await freeTurn(ctx.tenant.id);
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

/**
 * The columns with filters, except the sort column, and the status if it is in the index of the sort column or a term of
 * the search index.
 */
export function filteredColumns(filters: ProductFilters, sorted: string | undefined): FilterColumn[] {
  const columns: FilterColumn[] = ranges
    .filter(({ column, from, to }) => column !== sorted && (filters[from] !== undefined || filters[to] !== undefined))
    .map(({ column }) => column);
  if (filters.status !== undefined && sorted !== "created_at" && filters.terms === undefined) columns.push("status");
  return columns;
}

/** The column whose filter has the fewest matches, if these are at most `max`. */
export async function rarestColumn(
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
