import type { Ctx } from "../../../context.ts";
import { get } from "../../../db/statement.ts";
import { freeTurn } from "../../../values/turns.ts";
import { type BatchRow, batchStatement } from "./batch-statement.ts";
import { hasOrder, type ListShape, type Source, sortColumns } from "./conditions.ts";
import { filteredColumns, maxSorted, rarestColumn, scan } from "./count.ts";
import type { ProductFilters } from "./filters.ts";
import { type PageRow, pageStatement } from "./page-statement.ts";
import { nextWindow } from "./search-window.ts";

/** Up to this many matches of a filter are read and sorted at once. */
const fewMatches = 200;
/** Batches scanned for one page. After them the page ends short. */
const maxBatches = 10;

/** Rows that each term of a search may have in the first batch of a page, and in later ones. */
const windows = { first: 200, later: 2000 };

type Values = Record<string, unknown> & { limit: number };

/**
 * Finds a page in the cheapest way: few matches of a filter are read by its index and sorted; otherwise rows are
 * scanned in sort order, batch by batch. No statement scans more than a few thousand rows.
 */
export async function findPage(ctx: Ctx, shape: ListShape, values: Values): Promise<PageRow | undefined> {
  const page = (source: Source, more: object = {}) => get(ctx.db, pageStatement(shape, source), { ...values, ...more });
  const { filters } = shape;
  const named = namedBy(filters);
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
async function fillPage(ctx: Ctx, shape: ListShape, values: Values, first?: BatchRow): Promise<PageRow | undefined> {
  const { filters, descending, key } = shape;
  let page = first;
  let last = first?.edge ?? null;
  for (let batches = first ? 1 : 0; !page || (page.cut !== null && page.found < values.limit); batches++) {
    // The page can only end at a row that the caller may see.
    if (page && batches >= maxBatches && last !== null) return { ...page, last, has_more: 1 };
    if (batches > 0) await freeTurn(ctx.tenant.id);
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
    is_unserved: Math.max(page.is_unserved ?? 0, next.is_unserved ?? 0),
    found: page.found + next.found,
  };
}

/** The filter that names a few rows. */
export function namedBy(filters: ProductFilters): "ids" | "slug" | undefined {
  return (["ids", "slug"] as const).find((name) => filters[name] !== undefined);
}
