import { type SQL, sql } from "drizzle-orm";
import { type CompiledStatement, compiledOnce, param, statement } from "../../../db/statement.ts";
import {
  afterPosition,
  afterRow,
  directionOf,
  type FilterColumn,
  indexes,
  type ListShape,
  otherConditions,
  passedEnd,
  rangeConditions,
  sortColumns,
} from "./conditions.ts";
import type { ProductFilters } from "./filters.ts";
import { joinedFound, type PageRow } from "./page-statement.ts";

/** Rows that one statement scans. It takes milliseconds, and blocks other requests meanwhile. */
const scannedRows = 2000;
/** Rows that one statement counts when the index contains all conditions. */
const countedRows = 20_000;

/** The matches among a batch of rows in sort order. */
export interface BatchRow extends PageRow {
  /** How many of its rows are on the page. */
  found: number;
  /** Position of the last row scanned, if neither the rows nor the page ended there. */
  cut: string | null;
  /** Position of the last scanned row that the caller may see, in the same case. */
  edge: string | null;
}

type CountRow = Pick<BatchRow, "found" | "cut">;

/** Counts the matches of the filter on a column, up to `max`. */
export function measureStatement(column: FilterColumn, filters: ProductFilters): CompiledStatement<{ found: number }> {
  return compiledOnce(`measure ${column} ${Object.keys(filters)}`, () => {
    const conditions = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
    return statement(sql`select count(*) as found from (select 1 from products indexed by ${sql.raw(indexes[column] as string)}
      where ${and([...conditions, ...rangeConditions(filters, column)])} limit ${param("max")})`);
  });
}

/** The matches among the next batch of rows in sort order, up to a page. */
export function batchStatement(shape: ListShape): CompiledStatement<BatchRow> {
  const { key, descending, filters, isContinued, isServed, isOpen } = shape;
  const name = `batch ${key} ${descending} ${Object.keys(filters)} ${isContinued} ${isServed} ${isOpen}`;
  return compiledOnce(name, () => compileBatch(shape));
}

/** Counts the matches among the next batch of rows of an index, or of the search index for a search. */
export function countStatement(column: FilterColumn, filters: ProductFilters, isContinued: boolean) {
  return compiledOnce(`count ${column} ${Object.keys(filters)} ${isContinued}`, () => {
    const { rows, others, cutAfter } = indexRows({ column, filters, descending: true, isContinued });
    if (others.length > 0) {
      return statement<CountRow>(sql`select count(*) as found, ${cutAfter(scannedRows)} as cut
        from (${rows} limit ${sql.raw(String(scannedRows))}) as near ${joinedProducts} where ${and(others)}`);
    }
    const max = sql.raw(String(countedRows));
    return statement<CountRow>(sql`select found, case found when ${max} then ${cutAfter(countedRows)} end as cut
      from (select count(*) as found from (${rows} limit ${max}))`);
  });
}

function compileBatch(shape: ListShape): CompiledStatement<BatchRow> {
  const { key, descending, filters, isContinued, isOpen } = shape;
  const column = sortColumns[key] as FilterColumn;
  const { rows, others, cutAfter, isVisible } = indexRows({ column, filters, descending, isContinued });
  const max = sql.raw(String(scannedRows));
  const cut = cutAfter(scannedRows);
  const reverse = directionOf(!descending);
  // A cursor must not reveal the title or price of a product that is not published.
  const edge =
    isOpen || isVisible
      ? cut
      : sql`(select json_array(near.value, id) from (${rows} limit ${max}) as near ${joinedProducts}
          where status = 'published' order by near.value ${reverse}, id ${reverse} limit 1)`;
  const isFull = sql`(select count(*) from found) > ${param("limit")}`;
  return statement(sql`with found as materialized (
      select near.number as number, id, near.value as value from (${rows} limit ${max}) as near ${joinedProducts}
      where ${and(others)} limit ${param("more")})
    select page.*,
      (select json_array(value, id) from found limit 1 offset ${param("lastIndex")}) as last,
      ${isFull} as has_more,
      (select count(*) from found) as found,
      case when ${isFull} then null else ${cut} end as cut,
      case when ${isFull} then null else ${edge} end as edge,
      null as total
    from ${joinedFound(shape)}`);
}

const joinedProducts = sql`cross join products on products.row_number = near.number`;

type IndexWalk = Pick<ListShape, "filters" | "descending" | "isContinued"> & { column: FilterColumn };

/**
 * The rows of an index in order as `select number, value …`, the position at which a batch of a size ends, the
 * conditions that the index does not have, and whether the caller may see every row.
 */
function indexRows({ column, filters, descending, isContinued }: IndexWalk) {
  const direction = directionOf(descending);
  const tenant = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  if (filters.match !== undefined) {
    const conditions = [sql`product_search match ${param("match")}`, ...afterRow("rowid", descending, isContinued)];
    const from = sql`from product_search where ${and(conditions)} order by rowid ${direction}`;
    return {
      rows: sql`select rowid as number, rowid as value ${from}`,
      cutAfter: (size: number) =>
        sql`(select json_array(rowid, '') ${from} limit 1 offset ${sql.raw(String(size - 1))})`,
      others: [...tenant, ...otherConditions(filters)],
      // A row number reveals nothing about a product.
      isVisible: true,
    };
  }
  const isByStatus = column === "status" || (column === "created_at" && filters.status !== undefined);
  const sorted = isByStatus ? "created_at" : column;
  const from = sql`from products indexed by ${sql.raw(indexes[isByStatus ? "status" : column] as string)} where ${and([
    ...tenant,
    ...(isByStatus ? rangeConditions(filters, "status") : []),
    ...rangeConditions(filters, sorted, passedEnd(descending, isContinued)),
    ...afterPosition(sorted, descending, isContinued),
  ])} order by ${sql.raw(sorted)} ${direction}, id ${direction}`;
  return {
    rows: sql`select row_number as number, ${sql.raw(sorted)} as value ${from}`,
    cutAfter: (size: number) =>
      sql`(select json_array(${sql.raw(sorted)}, id) ${from} limit 1 offset ${sql.raw(String(size - 1))})`,
    others: otherConditions(filters, sorted, ...(isByStatus ? ["status"] : [])),
    isVisible: isByStatus,
  };
}

function and(conditions: SQL[]): SQL {
  return sql.join(conditions, sql` and `);
}
