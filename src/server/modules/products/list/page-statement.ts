import { type SQL, sql } from "drizzle-orm";
import { type CompiledStatement, compiledOnce, param, statement } from "../../../db/statement.ts";
import type { PageRow as CommonRow } from "../../../pagination/list-page.ts";
import { newestEvent } from "../../events/service.ts";
import { productViews } from "../rendering.ts";
import { servedJson, servedLanguage } from "../translation.ts";
import {
  afterPosition,
  directionOf,
  hasOrder,
  indexes,
  type ListShape,
  otherConditions,
  passedEnd,
  rangeConditions,
  type Source,
  sortColumns,
  titleRank,
} from "./conditions.ts";

export interface PageRow extends CommonRow {
  /** The first and last language by name; the same if the page has one language. */
  first_language: string | null;
  last_language: string | null;
  /** 1 if rows are passed through as stored, but some have translations. */
  is_unserved: number | null;
  /** The state of the catalogue in the same snapshot. */
  state?: string | null;
}

/** Page, last position and whether more follow are one statement, and so one snapshot. */
export function pageStatement(shape: ListShape, source: Source): CompiledStatement<PageRow> {
  const { key, descending, filters, isContinued, isCounted, isServed, isOpen } = shape;
  const flags = [isContinued, isCounted, isServed, isOpen].join(" ");
  const name = `page ${key} ${descending} ${source} ${Object.keys(filters)} ${flags}`;
  return compiledOnce(name, () => (source === "walk" ? compileWalk(shape) : compileSorted(shape, source)));
}

/** The keys are sorted first; the wide rows are read for the page only. */
function compileSorted(shape: ListShape, source: Source): CompiledStatement<PageRow> {
  const column = sortColumn(shape);
  return statement<PageRow>(sql`with found as materialized (
      select row_number as number, id, ${column} as value ${orderedRows(shape, source)} limit ${param("more")})
    select page.*,
      (select json_array(value, id) from found limit 1 offset ${param("lastIndex")}) as last,
      (select count(*) from found) > ${param("limit")} as has_more,
      ${total(shape, source)} as total
    from ${joinedFound(shape)}`);
}

/** If one index has the order and all matches, walking it three times is cheapest. */
function compileWalk(shape: ListShape): CompiledStatement<PageRow> {
  const from = orderedRows(shape, "walk");
  return statement<PageRow>(sql`select page.*,
      (select json_array(${sql.raw(sortColumns[shape.key])}, id) ${from} limit 1 offset ${param("lastIndex")}) as last,
      exists(select 1 ${from} limit 1 offset ${param("limit")}) as has_more,
      ${total(shape, "walk")} as total
    from ${joinedRows(shape, sql`${from} limit ${param("limit")}`)}`);
}

/** The page of the rows in the common table `found`. */
export function joinedFound(shape: ListShape): SQL {
  return joinedRows(
    shape,
    sql`from (select number from found limit ${param("limit")}) as listed
      cross join products on products.row_number = listed.number`,
  );
}

/** The JSON of rows, joined by commas, and the first and last of their languages by name. */
function joinedRows({ isServed, isOpen }: ListShape, rows: SQL): SQL {
  const document = productViews[isOpen ? "whole" : "catalog"];
  const { json, rest } = isServed
    ? { json: servedJson(document), rest: sql`${servedLanguage} as tag, 0 as other` }
    : { json: document, rest: sql`lang as tag, translations <> '{}' as other` };
  // Without the size first, SQLite would read the whole row.
  const bounded = sql`case when octet_length(rendered) <= ${param("maxBytes")} then ${json} end as json`;
  return sql`(select group_concat(json) as json, sum(size) as bytes, max(size) > ${param("maxBytes")} as is_cut,
    min(tag) as first_language, max(tag) as last_language, max(other) as is_unserved, (${newestEvent}) as state
    from (select ${bounded}, octet_length(rendered) as size, ${rest} ${rows})) as page`;
}

function total(shape: ListShape, source: Source): SQL {
  return shape.isCounted ? sql`(select count(*) ${matching(shape, source)})` : sql`null`;
}

const inTitles = sql`not exists (select 1 from json_each(${param("titles")}) as title where not exists (
  select 1 from product_search where product_search match title.value and rowid = products.row_number))`;

/** The column of the order: the row number if the search index, from which another page may come, has it. */
function sortColumn(shape: ListShape): SQL {
  if (shape.key === "relevance") return sql`(row_number + ${sql.raw(String(titleRank))} * ${inTitles})`;
  return sql.raw(hasOrder(shape) ? "row_number" : sortColumns[shape.key]);
}

/** `from … where … order by …` of all rows after the cursor. */
function orderedRows(shape: ListShape, source: Source): SQL {
  const direction = directionOf(shape.descending);
  const column = sortColumn(shape);
  const after = afterPosition(column, shape.descending, shape.isContinued).map((one) => sql` and ${one}`);
  return sql`${matching(shape, source)}${sql.join(after)} order by ${column} ${direction}, id ${direction}`;
}

/** `from … where …` of all matches, by the index of the source. */
function matching(shape: ListShape, source: Source): SQL {
  const { key, descending, filters, isContinued } = shape;
  const column = source === "walk" ? sortColumns[key] : source;
  const isByStatus = source === "walk" && key === "created_at" && filters.status !== undefined;
  const index = indexes[isByStatus ? "status" : column];
  const table = sql`products ${sql.raw(index === undefined ? "" : `indexed by ${index}`)}`;
  // The plus keeps SQLite from using an index for a column.
  const plus = sql.raw(index === undefined ? "+" : "");
  const conditions = [sql`${plus}tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  if (source === "numbers") {
    conditions.push(sql`row_number in (select cast(value as integer) from json_each(${param("numbers")}))`);
  }
  if (filters.ids !== undefined) {
    conditions.push(sql`${sql.raw(source === "ids" ? "" : "+")}id in (select value from json_each(${param("ids")}))`);
  }
  if (filters.slug !== undefined) conditions.push(sql`slug = ${param("slug")}`);
  if (filters.words !== undefined) {
    // One search per word: a search for several words would scan on to the next row that has them all.
    conditions.push(sql`not exists (select 1 from json_each(${param("words")}) as word
      where not exists (select 1 from product_search
        where product_search match word.value and rowid = products.row_number))`);
  }
  const isAfter = isContinued && !hasOrder(shape) && column === sortColumns[key];
  const passed = passedEnd(descending, isAfter);
  conditions.push(...rangeConditions(filters, column, passed), ...otherConditions(filters, column));
  return sql`from ${table} where ${sql.join(conditions, sql` and `)}`;
}
