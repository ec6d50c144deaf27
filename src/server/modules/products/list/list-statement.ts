import { type SQL, sql } from "drizzle-orm";
import { KeptMap } from "../../../db/kept-map.ts";
import { type CompiledStatement, param, statement } from "../../../db/statement.ts";
import { servedJson, servedLanguage } from "../translation.ts";
import { afterPosition, indexes, otherConditions, passedEnd, rangeConditions, sortColumns } from "./list-conditions.ts";
import type { ListShape, PageRow, Source } from "./list-shape.ts";

/** Shapes that are asked for; there are thousands that could be, so only those of late are kept. */
const statements = new KeptMap<CompiledStatement<PageRow>>(200);

/** Page, last position and whether more follows are one statement, and so one snapshot, whatever others write. */
export function listStatement(shape: ListShape, source: Source): CompiledStatement<PageRow> {
  const { key, descending, filters, isContinued, isCounted, isServed } = shape;
  const name = `${key} ${descending} ${source} ${Object.keys(filters)} ${isContinued} ${isCounted} ${isServed}`;
  let made = statements.get(name);
  if (!made) {
    made = compile(shape, source);
    statements.set(name, made);
  }
  return made;
}

function compile(shape: ListShape, source: Source): CompiledStatement<PageRow> {
  if (source === "walk") return compileWalk(shape);
  const column = sql.raw(source === "match" ? "product_search.rowid" : rankColumn(shape));
  // The wider rows are fetched for those of the page only.
  return statement<PageRow>(sql`with found as materialized (
      select row_number as number, id, ${column} as value ${orderedRows(shape, source)} limit ${param("more")})
    select page.*,
      (select json_array(value, id) from found limit 1 offset ${param("lastIndex")}) as last,
      (select count(*) from found) > ${param("limit")} as has_more,
      ${total(shape, source)} as total
    from ${joinedRows(
      shape,
      sql`from (select number from found limit ${param("limit")}) as listed
      cross join products on products.row_number = listed.number`,
    )}`);
}

/** Where an index has the order and all that fits stands close together, going along it thrice costs least. */
function compileWalk(shape: ListShape): CompiledStatement<PageRow> {
  const from = orderedRows(shape, "walk");
  return statement<PageRow>(sql`select page.*,
      (select json_array(${sql.raw(sortColumns[shape.key])}, id) ${from} limit 1 offset ${param("lastIndex")}) as last,
      exists(select 1 ${from} limit 1 offset ${param("limit")}) as has_more,
      ${total(shape, "walk")} as total
    from ${joinedRows(shape, sql`${from} limit ${param("limit")}`)}`);
}

/** The JSON of rows, joined by commas, and the first and the last of their languages by name. */
export function joinedRows({ isServed }: ListShape, rows: SQL): SQL {
  const row = isServed
    ? sql`${servedJson} as json, ${servedLanguage} as tag, 0 as other`
    : sql`rendered as json, lang as tag, translations <> '{}' as other`;
  return sql`(select group_concat(json) as json, min(tag) as first_language, max(tag) as last_language,
    max(other) as is_unserved from (select ${row} ${rows})) as page`;
}

function total(shape: ListShape, source: Source): SQL {
  return shape.isCounted ? sql`(select count(*) ${matching(shape, source)})` : sql`null`;
}

/** What the rows stand in the order of; those of a search by their age, in which the search index gives them. */
function rankColumn({ key, filters }: ListShape): string {
  return filters.match === undefined ? sortColumns[key] : "row_number";
}

/** `from … where … order by …` of all rows after the position. */
function orderedRows(shape: ListShape, source: Source): SQL {
  const { descending, filters, isContinued } = shape;
  const direction = sql.raw(descending ? "desc" : "asc");
  if (filters.match === undefined) {
    const column = rankColumn(shape);
    const position = afterPosition(column, descending, isContinued).map((one) => sql` and ${one}`);
    return sql`${matching(shape, source)}${sql.join(position)} order by ${sql.raw(column)} ${direction}, id ${direction}`;
  }
  const column = sql.raw(source === "match" ? "product_search.rowid" : "products.row_number");
  // Numbers of JavaScript arrive as REAL, which the search index would not take for a position.
  const position = isContinued
    ? sql` and ${column} ${sql.raw(descending ? "<" : ">")} cast(${param("value")} as integer)`
    : sql``;
  return sql`${matching(shape, source)}${position} order by ${column} ${direction}`;
}

/** `from … where …` of all that fit, by the index that the source names. */
function matching({ key, descending, filters, isContinued }: ListShape, source: Source): SQL {
  const isMatch = source === "match";
  const column = source === "walk" ? sortColumns[key] : source;
  const isByStatus = source === "walk" && key === "created_at" && filters.status !== undefined;
  const index = indexes[isByStatus ? "status" : column];
  const table = isMatch
    ? sql`product_search cross join products on products.row_number = product_search.rowid`
    : sql`products ${sql.raw(index === undefined ? "" : `indexed by ${index}`)}`;
  // The sign keeps a column out of the choice of an index.
  const plus = sql.raw(source === "ids" || isMatch ? "+" : "");
  const conditions = [sql`${plus}tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  if (isMatch) conditions.unshift(sql`product_search match ${param("match")}`);
  if (filters.ids !== undefined) {
    conditions.push(sql`${sql.raw(source === "ids" ? "" : "+")}id in (select value from json_each(${param("ids")}))`);
  }
  if (filters.slug !== undefined) conditions.push(sql`slug = ${param("slug")}`);
  if (filters.match !== undefined && !isMatch) {
    // Word by word: a search for several would go on from the row to the next that has them all.
    conditions.push(sql`not exists (select 1 from json_each(${param("words")}) as word
      where not exists (select 1 from product_search
        where product_search match word.value and rowid = products.row_number))`);
  }
  const isAfter = isContinued && filters.match === undefined && column === sortColumns[key];
  const passed = passedEnd(descending, isAfter);
  conditions.push(...rangeConditions(filters, column, passed), ...otherConditions(filters, column));
  return sql`from ${table} where ${sql.join(conditions, sql` and `)}`;
}
