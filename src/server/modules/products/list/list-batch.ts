import { type SQL, sql } from "drizzle-orm";
import { KeptMap } from "../../../db/kept-map.ts";
import { type CompiledStatement, param, statement } from "../../../db/statement.ts";
import { afterPosition, indexes, otherConditions, passedEnd, rangeConditions, sortColumns } from "./list-conditions.ts";
import type { ProductFilters } from "./list-filters.ts";
import type { Gathered, ListShape, PageRow } from "./list-shape.ts";
import { joinedRows } from "./list-statement.ts";

/** How many rows are looked through by one statement; that takes milliseconds, for which nobody else is served. */
const lookedThrough = 2000;
/** The same where the index alone tells. */
const counted = 20_000;

/** What a stretch of the way to a page gave. */
export interface PortionRow extends PageRow {
  /** How many of its rows are on the page. */
  found: number;
  /** The position at which it ended before its rows did, and before the page was full; null where it did not. */
  cut: string | null;
  /** The same, no further than to a row that the caller may know of. */
  edge: string | null;
}

/** What a stretch holds of those that are counted. */
export interface CountRow {
  found: number;
  cut: string | null;
}

const portions = new KeptMap<CompiledStatement<PortionRow>>(100);
const counts = new KeptMap<CompiledStatement<CountRow>>(40);
const measures = new KeptMap<CompiledStatement<{ found: number }>>(20);

/** Counts what lies in a range, or has the status, up to `most`. */
export function measureStatement(column: Gathered, filters: ProductFilters): CompiledStatement<{ found: number }> {
  return kept(measures, `${column} ${Object.keys(filters)}`, () => {
    const conditions = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
    return statement(sql`select count(*) as found from (select 1 from products indexed by ${sql.raw(indexes[column] as string)}
      where ${and([...conditions, ...rangeConditions(filters, column)])} limit ${param("most")})`);
  });
}

/** A page, or as much of it as the next rows in order give. */
export function portionStatement(shape: ListShape): CompiledStatement<PortionRow> {
  const { key, descending, filters, isContinued, isServed, isOpen } = shape;
  const name = `${key} ${descending} ${Object.keys(filters)} ${isContinued} ${isServed} ${isOpen}`;
  return kept(portions, name, () => compilePortion(shape));
}

/** Counts those of the next rows along the index of `column`, or along the search index where words are looked for. */
export function countStatement(
  column: Gathered,
  filters: ProductFilters,
  isContinued: boolean,
): CompiledStatement<CountRow> {
  return kept(counts, `${column} ${Object.keys(filters)} ${isContinued}`, () => {
    const near = nearRows(column, filters, true, isContinued);
    const most = sql.raw(String(near.others.length === 0 ? counted : lookedThrough));
    const cut = sql`(select ${near.position} ${near.from} limit 1 offset ${most} - 1)`;
    return statement(
      near.others.length === 0
        ? sql`select found, case found when ${most} then ${cut} end as cut
            from (select count(*) as found from (${near.rows} limit ${most}))`
        : sql`select count(*) as found, ${cut} as cut
            from (${near.rows} limit ${most}) as near ${joinedProducts} where ${and(near.others)}`,
    );
  });
}

function compilePortion(shape: ListShape): CompiledStatement<PortionRow> {
  const { key, descending, filters, isContinued, isOpen } = shape;
  const near = nearRows(sortColumns[key] as Gathered, filters, descending, isContinued);
  const most = sql.raw(String(lookedThrough));
  const cut = sql`(select ${near.position} ${near.from} limit 1 offset ${most} - 1)`;
  // Whoever reads a cursor must not learn from it what a product is called, or costs, that is not published yet.
  const edge =
    isOpen || near.isVisible
      ? cut
      : sql`(select json_array(near.value, id) from (${near.rows} limit ${most}) as near ${joinedProducts}
          where status = 'published' order by near.value ${sql.raw(descending ? "asc" : "desc")},
            id ${sql.raw(descending ? "asc" : "desc")} limit 1)`;
  const isFull = sql`(select count(*) from found) > ${param("limit")}`;
  return statement(sql`with found as materialized (
      select near.number as number, id, near.value as value from (${near.rows} limit ${most}) as near ${joinedProducts}
      where ${and(near.others)} limit ${param("more")})
    select page.*,
      (select json_array(value, id) from found limit 1 offset ${param("lastIndex")}) as last,
      ${isFull} as has_more,
      (select count(*) from found) as found,
      case when ${isFull} then null else ${cut} end as cut,
      case when ${isFull} then null else ${edge} end as edge,
      null as total
    from ${joinedRows(
      shape,
      sql`from (select number from found limit ${param("limit")}) as listed
      cross join products on products.row_number = listed.number`,
    )}`);
}

const joinedProducts = sql`cross join products on products.row_number = near.number`;

/** Rows in order, as an index has them. */
interface Near {
  /** `number` and sort `value`. */
  rows: SQL;
  /** `from … where … order by …` */
  from: SQL;
  /** JSON array of a row's value and id. */
  position: SQL;
  /** What the index does not tell. */
  others: SQL[];
  /** Whether all of them are what the caller asked to see. */
  isVisible: boolean;
}

function nearRows(column: Gathered, filters: ProductFilters, descending: boolean, isContinued: boolean): Near {
  const direction = sql.raw(descending ? "desc" : "asc");
  if (filters.match !== undefined) {
    // Numbers of JavaScript arrive as REAL, which the search index would not take for a position.
    const beyond = isContinued
      ? sql`and rowid ${sql.raw(descending ? "<" : ">")} cast(${param("value")} as integer)`
      : sql``;
    const from = sql`from product_search where product_search match ${param("match")} ${beyond} order by rowid ${direction}`;
    const others = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`, ...otherConditions(filters)];
    // The number of a row says nothing of it.
    const position = sql`json_array(rowid, '')`;
    return { rows: sql`select rowid as number, rowid as value ${from}`, from, position, others, isVisible: true };
  }
  const isByStatus = column === "status" || (column === "created_at" && filters.status !== undefined);
  const sorted = isByStatus ? "created_at" : column;
  const from = sql`from products indexed by ${sql.raw(indexes[isByStatus ? "status" : column] as string)} where ${and([
    sql`tenant_id = ${param("tenantId")}`,
    sql`deleted_at is null`,
    ...(isByStatus ? rangeConditions(filters, "status") : []),
    ...rangeConditions(filters, sorted, passedEnd(descending, isContinued)),
    ...afterPosition(sorted, descending, isContinued),
  ])} order by ${sql.raw(sorted)} ${direction}, id ${direction}`;
  return {
    rows: sql`select row_number as number, ${sql.raw(sorted)} as value ${from}`,
    from,
    position: sql`json_array(${sql.raw(sorted)}, id)`,
    others: otherConditions(filters, sorted, ...(isByStatus ? ["status"] : [])),
    isVisible: isByStatus,
  };
}

function and(conditions: SQL[]): SQL {
  return sql.join(conditions, sql` and `);
}

function kept<Row>(map: KeptMap<CompiledStatement<Row>>, name: string, make: () => CompiledStatement<Row>) {
  let made = map.get(name);
  if (!made) {
    made = make();
    map.set(name, made);
  }
  return made;
}
