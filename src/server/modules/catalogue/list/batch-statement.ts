import { type SQL, sql } from "drizzle-orm";
import { compiledOnce, param, type Statement, statement } from "../../../db/statement.ts";
import { productVariants } from "../products/table.ts";
import type { ProductFilters } from "./filters.ts";
import {
  afterPosition,
  directionOf,
  type FilterColumn,
  foundPage,
  indexes,
  type ListPlan,
  otherConditions,
  type PageRow,
  passedBounds,
  rangeConditions,
  searchHasOrder,
  sortColumns,
} from "./page-statement.ts";

/** Maximum rows of a scan, because other requests wait. `returned`: if the scan returns columns for facets. */
export const sizes = { scanned: 2000, returned: 500 };
/** Maximum rows of a scan for a page: fewer if the words of each row must be looked up in the search index. */
export const batchSize = (plan: ListPlan) =>
  searchHasOrder(plan) || plan.filters.words === undefined ? sizes.scanned : 200;

export interface BatchRow extends PageRow {
  found: number;
  /** Position of the last scanned row; null if the page is full or no rows follow. */
  scanCursor: string | null;
  /** Position of the last scanned row that the caller may see; null if `scanCursor` is null. */
  lastVisibleCursor: string | null;
}

export function measureStatement(column: FilterColumn, filters: ProductFilters): Statement<{ found: number }> {
  return compiledOnce(`measure ${column} ${Object.keys(filters)}`, () => {
    const conditions = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
    return statement(sql`select count(*) as found from (select 1 from products indexed by ${sql.raw(indexes[column] as string)}
      where ${and([...conditions, ...rangeConditions(filters, column)])} limit ${param("max")})`);
  });
}

export function batchStatement(plan: ListPlan): Statement<BatchRow> {
  const { key, descending, filters, isContinued, isLocalized, includesDrafts } = plan;
  const name = `batch ${key} ${descending} ${Object.keys(filters)} ${isContinued} ${isLocalized} ${includesDrafts}`;
  return compiledOnce(name, () => compileBatch(plan));
}

const options = sql`case when has_variants and ${param("hasOptions")} then (select json_group_array(options_key)
  from ${productVariants} where product_id = products.id and deleted_at is null) else '[]' end`;
/** SQL for what a scan returns of each match: the row number, or the fields that facets count. */
const returned = {
  numbers: sql`near.number`,
  facets: sql`json_array(json(tags), json(category_ids), price_minor, json(${options}))`,
};

export function scanStatement(
  column: FilterColumn,
  filters: ProductFilters,
  { isContinued, part }: { isContinued: boolean; part: keyof typeof returned | undefined },
) {
  return compiledOnce(`scan ${column} ${Object.keys(filters)} ${isContinued} ${part}`, () => {
    const size = part === "facets" ? sizes.returned : sizes.scanned;
    const { rows, others, scanCursor } = indexRows({ column, filters, descending: true, isContinued, size });
    const matches = part ? sql`json_group_array(${returned[part]})` : sql`null`;
    return statement<{ found: number; scanCursor: string | null; matches: string | null }>(sql`
      select count(*) as found, ${scanCursor} as scanCursor, ${matches} as matches
      from (${rows}) as near ${others.length > 0 || part === "facets" ? sql`${joinedProducts} where ${and(others)}` : sql``}`);
  });
}

function compileBatch(plan: ListPlan): Statement<BatchRow> {
  const { key, descending, includesDrafts } = plan;
  const column = sortColumns[key] as FilterColumn;
  const scan = { ...plan, column, size: batchSize(plan), isSorted: searchHasOrder(plan) };
  const { rows, others, scanCursor, isVisible } = indexRows(scan);
  const reverse = directionOf(!descending);
  // A cursor contains the title or price of a row, which must be a row that the caller may see.
  const lastVisibleCursor =
    includesDrafts || isVisible
      ? scanCursor
      : sql`(select json_array(near.value, id) from (${rows}) as near ${joinedProducts}
          where status = 'published' order by near.value ${reverse}, id ${reverse} limit 1)`;
  const isFull = sql`(select count(*) from found) > ${param("limit")}`;
  const found = sql`select near.number as number, id, near.value as value from (${rows}) as near ${joinedProducts}
    where ${and(others)}`;
  const more = sql`(select count(*) from found) as found, null as total,
    case when ${isFull} then null else ${scanCursor} end as scanCursor,
    case when ${isFull} then null else ${lastVisibleCursor} end as lastVisibleCursor`;
  return statement(foundPage(plan, found, more));
}

const joinedProducts = sql`cross join products on products.row_number = near.number`;

interface IndexScan extends Pick<ListPlan, "filters" | "descending" | "isContinued"> {
  column: FilterColumn;
  size: number;
  /** Whether the search index has the order of the list, so that a search can read rows in order. Default: true. */
  isSorted?: boolean;
}

/** SQL for a scan of an index: the rows, the end of the scan, and conditions that the index does not check. */
function indexRows(scan: IndexScan): { rows: SQL; scanCursor: SQL; others: SQL[]; isVisible: boolean } {
  const { column, filters, descending, isContinued, size, isSorted = true } = scan;
  if (filters.terms !== undefined && isSorted) return searchRows(scan);
  const direction = directionOf(descending);
  const tenant = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  const isByStatus = column === "status" || (column === "created_at" && filters.status !== undefined);
  const sorted = isByStatus ? "created_at" : column;
  const from = sql`from products indexed by ${sql.raw(indexes[isByStatus ? "status" : column] as string)} where ${and([
    ...tenant,
    ...(isByStatus ? rangeConditions(filters, "status") : []),
    ...rangeConditions(filters, sorted, passedBounds(descending, isContinued)),
    ...afterPosition(sql.raw(sorted), descending, isContinued),
  ])} order by ${sql.raw(sorted)} ${direction}, id ${direction}`;
  const max = sql.raw(String(size));
  return {
    rows: sql`select row_number as number, ${sql.raw(sorted)} as value ${from} limit ${max}`,
    scanCursor: sql`(select json_array(${sql.raw(sorted)}, id) ${from} limit 1 offset ${sql.raw(String(size - 1))})`,
    others: otherConditions(filters, sorted, ...(isByStatus ? ["status"] : [])),
    isVisible: isByStatus,
  };
}

/**
 * SQL for the rows in a window of the search index. Numbers are cast, because JavaScript numbers bind as REAL, and FTS5
 * would scan its whole table. SQLite sorts a subquery only if the subquery has a limit, so there is a very large limit.
 */
function searchRows({ filters, descending, isContinued }: IndexScan) {
  const offset = sql`cast(${param("titleOffset")} as integer)`;
  const [passed, kept] = descending ? [sql`<`, sql`>=`] : [sql`>`, sql`<=`];
  const after = isContinued ? sql`and rowid ${passed} cast(${param("value")} as integer) - ${offset}` : sql``;
  return {
    rows: sql`select rowid as number, rowid + ${offset} as value from product_search
      where product_search match ${param("match")} ${after} and rowid ${kept} cast(${param("lastRow")} as integer)
      order by rowid ${directionOf(descending)} limit 1000000000`,
    scanCursor: sql`${param("scanCursor")}`,
    others: [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`, ...otherConditions(filters, "words")],
    // The cursor contains only a row number, which may be that of a hidden product.
    isVisible: true,
  };
}

function and(conditions: SQL[]): SQL {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
