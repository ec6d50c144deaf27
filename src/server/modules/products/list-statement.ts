import { type SQL, sql } from "drizzle-orm";
import { KeptMap } from "../../db/kept-map.ts";
import { type CompiledStatement, statement } from "../../db/statement.ts";
import type { ProductFilters } from "./list-filters.ts";
import type { ProductSortKey } from "./list-model.ts";
import { type Gathered, type ListShape, type PageRow, ranges } from "./list-shape.ts";
import { servedJson, servedLanguage } from "./translation.ts";

const param = sql.placeholder;

/** How many rows in order are looked through before what fits is gathered by its own index instead. */
const walked = 4000;
/** The same of a search, whose rows are fetched one by one. */
const searched = 1000;
/** So few are gathered and sorted at once. */
export const fewMatches = 200;

const sortColumns: Record<ProductSortKey, string> = {
  created_at: "created_at",
  updated_at: "updated_at",
  price: "price_minor",
  title: "title",
};
const indexes: Record<string, string> = {
  created_at: "products_by_created",
  updated_at: "products_by_updated",
  price_minor: "products_by_price",
  title: "products_by_title",
  status: "products_by_status",
  slug: "products_slug",
};
/** Shapes that are asked for; there are thousands that could be, so only those of late are kept. */
const statements = new KeptMap<CompiledStatement<PageRow>>(200);
const counts = new KeptMap<CompiledStatement<{ found: number }>>(20);

/** The column by which a key sorts. */
export function sortColumn(key: ProductSortKey): string {
  return sortColumns[key];
}

/** Counts what lies in a range, or has the status, up to `most`. */
export function countStatement(column: Gathered, filters: ProductFilters): CompiledStatement<{ found: number }> {
  const conditions = rangeConditions(filters, column, "");
  const name = `${column} ${Object.keys(filters)}`;
  let made = counts.get(name);
  if (!made) {
    made = statement<{ found: number }>(sql`select count(*) as found from (
      select 1 from products indexed by ${sql.raw(indexes[column] as string)}
      where ${sql.join([sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`, ...conditions], sql` and `)}
      limit ${param("most")})`);
    counts.set(name, made);
  }
  return made;
}

/** Page, last position, total and whether more follows are one statement, and so one snapshot, whatever others write. */
export function listStatement(shape: ListShape): CompiledStatement<PageRow> {
  const { key, descending, source, filters, isContinued, isCounted, isServed } = shape;
  const name = `${key} ${descending} ${source} ${Object.keys(filters)} ${isContinued} ${isCounted} ${isServed}`;
  let made = statements.get(name);
  if (!made) {
    made = compile(shape);
    statements.set(name, made);
  }
  return made;
}

function compile(shape: ListShape): CompiledStatement<PageRow> {
  if (shape.source === "walk") return compileWalk(shape);
  const { rows, cut } = pageRows(shape);
  // The wider rows are fetched for those of the page only.
  return statement<PageRow>(sql`with found as materialized (${rows} limit ${param("more")})
    select page.*,
      (select json_array(value, id) from found limit 1 offset ${param("lastIndex")}) as last,
      (select count(*) from found) > ${param("limit")} as has_more,
      ${cut} as is_cut,
      ${total(shape)} as total
    from ${joined(
      shape,
      sql`from (select number from found limit ${param("limit")}) as listed
      cross join products on products.row_number = listed.number`,
    )}`);
}

/** Where an index has the order and all that fits stands close together, going along it thrice costs least. */
function compileWalk(shape: ListShape): CompiledStatement<PageRow> {
  const { from, value } = walkedRows(shape);
  return statement<PageRow>(sql`select page.*,
      (select json_array(${value}, id) ${from} limit 1 offset ${param("lastIndex")}) as last,
      exists(select 1 ${from} limit 1 offset ${param("limit")}) as has_more,
      0 as is_cut,
      ${total(shape)} as total
    from ${joined(shape, sql`${from} limit ${param("limit")}`)}`);
}

/** The JSON of rows, joined by commas, and the first and the last of their languages by name. */
function joined({ isServed }: ListShape, rows: SQL): SQL {
  const row = isServed
    ? sql`${servedJson} as json, ${servedLanguage} as tag, 0 as other`
    : sql`rendered as json, lang as tag, translations <> '{}' as other`;
  return sql`(select group_concat(json) as json, min(tag) as first_language, max(tag) as last_language,
    max(other) as is_unserved from (select ${row} ${rows})) as page`;
}

function total(shape: ListShape): SQL {
  return shape.isCounted ? sql`(select count(*) ${matching(shape)})` : sql`null`;
}

/** `from … where … order by …` of all rows after the position, and the column by which they are sorted. */
function walkedRows(shape: ListShape): { from: SQL; value: SQL } {
  const { key, descending, isContinued } = shape;
  const direction = sql.raw(descending ? "desc" : "asc");
  const value = sql.raw(sortColumns[key]);
  const position = isContinued
    ? sql`and (${value}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`
    : sql``;
  return { from: sql`${matching(shape)} ${position} order by ${value} ${direction}, id ${direction}`, value };
}

/** `number`, `id` and sort `value` of the rows in order, from the position on; whether the way to them was cut off. */
function pageRows(shape: ListShape): { rows: SQL; cut: SQL } {
  const { key, descending, source, filters, isContinued } = shape;
  const direction = sql.raw(descending ? "desc" : "asc");
  const beyond = sql.raw(descending ? "<" : ">");
  if (filters.match !== undefined) return foundRows(shape, direction, beyond);
  const column = sortColumns[key];
  const select = sql`select row_number as number, id, ${sql.raw(column)} as value`;
  if (source !== "stroll") return { rows: sql`${select} ${walkedRows(shape).from}`, cut: sql`0` };
  const position = isContinued
    ? sql`and (${sql.raw(column)}, id) ${beyond} (${param("value")}, ${param("id")})`
    : sql``;
  const order = sql`order by ${sql.raw(column)} ${direction}, id ${direction}`;
  const near = sql`from products indexed by ${sql.raw(indexes[column] as string)}
    where tenant_id = ${param("tenantId")} and deleted_at is null
      ${sql.join(
        rangeConditions(filters, column, isContinued ? "+" : "").map((one) => sql`and ${one}`),
        sql` `,
      )}
    ${position} ${order} limit ${sql.raw(String(walked))}`;
  const rows = sql`select number, id, value from (${select}, status, price_minor, created_at, updated_at ${near})
    where ${sql.join(otherConditions(filters, column), sql` and `)}`;
  return { rows, cut: cutOff(near, walked) };
}

/** The rows of a search. Its order is the age of the rows, in which the search index gives them without sorting. */
function foundRows(shape: ListShape, direction: SQL, beyond: SQL): { rows: SQL; cut: SQL } {
  const { source, filters, isContinued } = shape;
  // Numbers of JavaScript arrive as REAL, which the search index would not take for a position.
  const position = (column: string) =>
    isContinued ? sql`and ${sql.raw(column)} ${beyond} cast(${param("value")} as integer)` : sql``;
  const select = sql`select products.row_number as number, products.id as id, products.row_number as value`;
  if (source !== "stroll") {
    const column = source === "match" ? "product_search.rowid" : "products.row_number";
    const rows = sql`${select} ${matching(shape)} ${position(column)} order by ${sql.raw(column)} ${direction}`;
    return { rows, cut: sql`0` };
  }
  const near = sql`from product_search where product_search match ${param("match")} ${position("rowid")}
    order by rowid ${direction} limit ${sql.raw(String(searched))}`;
  const rows = sql`${select} from (select rowid as number ${near}) as near
    cross join products on products.row_number = near.number
    where tenant_id = ${param("tenantId")} and deleted_at is null and ${sql.join(otherConditions(filters, ""), sql` and `)}`;
  return { rows, cut: cutOff(near, searched) };
}

/** 1 where the way ended before its rows did, and the page is not full. */
function cutOff(near: SQL, most: number): SQL {
  return sql`case when (select count(*) from found) > ${param("limit")} then 0
    else (select count(*) from (select 1 ${near})) = ${sql.raw(String(most))} end`;
}

/** `from … where …` of all that fit, by the index that the source names. */
function matching({ key, source, filters, isContinued }: ListShape): SQL {
  const isStroll = source === "stroll";
  const isMatch = source === "match" || (isStroll && filters.match !== undefined);
  const column = isMatch ? "match" : source === "walk" || isStroll ? (sortColumns[key] as Gathered) : source;
  const isByStatus = source === "walk" && key === "created_at" && filters.status !== undefined;
  const index = indexes[isByStatus ? "status" : column];
  const table = isMatch
    ? sql`product_search cross join products on products.row_number = product_search.rowid`
    : sql`products ${sql.raw(index === undefined ? "" : `indexed by ${index}`)}`;
  // The sign keeps a column out of the choice of an index. A position says more than the end of a range before it.
  const plus = sql.raw(source === "ids" || isMatch ? "+" : "");
  const conditions = [sql`${plus}tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  if (isMatch) conditions.unshift(sql`product_search match ${param("match")}`);
  if (filters.ids !== undefined) {
    conditions.push(sql`${sql.raw(source === "ids" ? "" : "+")}id in (select value from json_each(${param("ids")}))`);
  }
  if (filters.slug !== undefined) conditions.push(sql`slug = ${param("slug")}`);
  if (filters.match !== undefined && !isMatch) {
    conditions.push(sql`exists (select 1 from product_search
      where product_search match ${param("match")} and rowid = products.row_number)`);
  }
  const isAfter = isContinued && filters.match === undefined && column === sortColumns[key];
  conditions.push(...rangeConditions(filters, column, isAfter ? "+" : ""), ...otherConditions(filters, column));
  return sql`from ${table} where ${sql.join(conditions, sql` and `)}`;
}

function rangeConditions(filters: ProductFilters, column: string, sign: string): SQL[] {
  if (column === "status") return filters.status === undefined ? [] : [sql`status = ${param("status")}`];
  return ranges
    .filter((range) => range.column === column)
    .flatMap(({ from, to }) => [
      ...(filters[from] === undefined ? [] : [sql`${sql.raw(sign + column)} >= ${param(from)}`]),
      ...(filters[to] === undefined ? [] : [sql`${sql.raw(sign + column)} <= ${param(to)}`]),
    ]);
}

/** The status and the ranges of columns other than `column`. */
function otherConditions(filters: ProductFilters, column: string): SQL[] {
  const others = ranges.filter((range) => range.column !== column);
  const conditions = others.flatMap((range) => rangeConditions(filters, range.column, "+"));
  return column === "status" ? conditions : [...rangeConditions(filters, "status", ""), ...conditions];
}
