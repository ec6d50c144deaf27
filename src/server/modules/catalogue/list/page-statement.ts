import { type SQL, sql } from "drizzle-orm";
import { compiledOnce, param, type Statement, statement } from "../../../db/statement.ts";
import type { PageRow as CommonRow } from "../../../pagination/list-page.ts";
import { newestEvents } from "../../events/service.ts";
import { productViews } from "../products/rendering.ts";
import { localizedJson } from "../products/translation.ts";
import type { ProductFilters } from "./filters.ts";
import type { ProductSortKey } from "./model.ts";

export type FilterColumn = "price_minor" | "created_at" | "updated_at" | "status";

/** Where a page's rows come from: an index in sort order (`index-scan`), a column's index, or a few named rows. */
export type Source = "index-scan" | FilterColumn | "ids" | "slug" | "numbers";

export interface ListPlan {
  key: ProductSortKey;
  descending: boolean;
  filters: ProductFilters;
  isContinued: boolean;
  /** Whether the caller sees drafts. Such a caller also sees all fields of products. */
  includesDrafts: boolean;
  /** Whether the statement counts all matches, which takes long for many. */
  isCounted: boolean;
  /** Whether the statement translates texts. Without this, it returns rows as stored. */
  isLocalized: boolean;
}

export const rangeColumns = ["price_minor", "created_at", "updated_at"] as const;

/** The column of each sort key. For relevance, products with all words in a title come first, then the newest. */
export const sortColumns: Record<ProductSortKey, string> = {
  created_at: "created_at",
  updated_at: "updated_at",
  price: "price_minor",
  title: "title",
  views_count: "views_count",
  popular: "popularity",
  relevance: "created_at",
};

/** Larger than any row number. A sort by relevance adds it to the row number of a product with all words in a title. */
export const firstTitlePosition = 2 ** 50;

export const indexes: Record<string, string> = {
  created_at: "products_by_created",
  updated_at: "products_by_updated",
  price_minor: "products_by_price",
  title: "products_by_title",
  views_count: "products_by_views",
  popularity: "products_by_popularity",
  status: "products_by_status",
  slug: "products_slug",
};

export function searchHasOrder({ key, filters }: Pick<ListPlan, "key" | "filters">): boolean {
  return filters.terms !== undefined && sortColumns[key] === "created_at";
}

export const directionOf = (descending: boolean): SQL => sql.raw(descending ? "desc" : "asc");

export function afterPosition(column: SQL, descending: boolean, isContinued: boolean): SQL[] {
  if (!isContinued) return [];
  return [sql`(${column}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`];
}

/** Returns the names of the filters that bound a column, such as `created_at >=`. */
export function boundsOf(filters: ProductFilters, column: string): string[] {
  return Object.keys(filters).filter((name) => name.startsWith(`${column} `));
}

/** SQL conditions for a column's range, or for the status. Bounds with an operator in `passed` use no index. */
export function rangeConditions(filters: ProductFilters, column: string, passed = ""): SQL[] {
  if (column === "status") return filters.status === undefined ? [] : [sql`status = ${param("status")}`];
  return boundsOf(filters, column).map((name) => {
    const isPassed = passed.includes(name.charAt(column.length + 1));
    return sql`${sql.raw(isPassed ? `+${name}` : name)} ${param(name)}`;
  });
}

/** Returns `<` or `>`: all rows after the cursor fulfil bounds with this operator. Returns "" without a cursor. */
export function passedBounds(descending: boolean, isContinued: boolean): string {
  return isContinued ? (descending ? "<" : ">") : "";
}

/** SQL conditions of all filters except those of `columns`. Pass `words` if the rows already match the words. */
export function otherConditions(filters: ProductFilters, ...columns: string[]): SQL[] {
  const others = ["status", ...rangeColumns].filter((column) => !columns.includes(column));
  const conditions = others.flatMap((column) => rangeConditions(filters, column, "<>"));
  const given = Object.entries(rowConditions).filter(([name]) => name in filters && !columns.includes(name));
  return [...conditions, ...given.map(([, condition]) => condition)];
}

/** SQL conditions on a row. The search index checks only the rarest term, and cannot tell variants apart. */
const rowConditions = {
  available: sql`(allow_backorder
  or coalesce(case when has_variants then variants_available else stock - reserved end, 1) > 0)`,
  tags: sql`not exists (select 1 from json_each(${param("tags")}) as asked
  where not exists (select 1 from json_each(products.tags) as held where held.value = asked.value))`,
  categories: sql`exists (select 1 from json_each(products.category_ids) as held
  where held.value in (select value from json_each(${param("categories")})))`,
  options: sql`(has_variants and exists (select 1 from json_each(products.variants) as variant where not exists (
  select 1 from json_each(${param("options")}) as asked where not exists (
    select 1 from json_each(variant.value, '$.options') as held
    where held.key = asked.value ->> 0 and held.value = asked.value ->> 1))))`,
  onSale: sql`(compare_at_minor > price_minor or (has_variants and exists (
  select 1 from json_each(products.variants) as variant
  where variant.value ->> 'compare_at_price' > variant.value ->> 'price')))`,
  // One search for each word: it looks only at this row. A search for all words would go on to the next row with all.
  words: sql`not exists (select 1 from json_each(${param("words")}) as word where not exists (
  select 1 from product_search where product_search match word.value and rowid = products.row_number))`,
} satisfies Partial<Record<keyof ProductFilters, SQL>>;

export interface PageRow extends CommonRow {
  /** 1 if the rows are not localized, but a row has translations or is not in the language of the store. */
  needsLocalization: number | null;
  state?: string | null;
}

/** Returns one statement for the page, its last position and `has_more`, so that all are from one snapshot. */
export function pageStatement(plan: ListPlan, source: Source): Statement<PageRow> {
  const { key, descending, filters, isContinued, isCounted, isLocalized, includesDrafts } = plan;
  const flags = [isContinued, isCounted, isLocalized, includesDrafts].join(" ");
  const name = `page ${key} ${descending} ${source} ${Object.keys(filters)} ${flags}`;
  return compiledOnce(name, () => (source === "index-scan" ? compileIndexScan(plan) : compileSorted(plan, source)));
}

/** Sorts row numbers first, and then reads the long rows of the page only. */
function compileSorted(plan: ListPlan, source: Source): Statement<PageRow> {
  const column = sortColumn(plan);
  const found = sql`select row_number as number, id, ${column} as value ${orderedRows(plan, source)}`;
  return statement<PageRow>(foundPage(plan, found, sql`${total(plan, source)} as total`));
}

/** Reads an index that has the order and all filters. Separate scans for rows, last row and `has_more` are fastest. */
function compileIndexScan(plan: ListPlan): Statement<PageRow> {
  const from = orderedRows(plan, "index-scan");
  return statement<PageRow>(sql`select page.*,
      (select json_array(${sql.raw(sortColumns[plan.key])}, id) ${from} limit 1 offset ${param("lastIndex")}) as last,
      exists(select 1 ${from} limit 1 offset ${param("limit")}) as has_more,
      ${total(plan, "index-scan")} as total
    from ${joinedRows(plan, sql`${from} limit ${param("limit")}`)}`);
}

/** SQL for a page of the rows that `found` selects in order, with columns `number`, `id` and `value` (the sort key). */
export function foundPage(plan: ListPlan, found: SQL, more: SQL): SQL {
  const listed = sql`from (select number from found limit ${param("limit")}) as listed
    cross join products on products.row_number = listed.number`;
  return sql`with found as materialized (${found} limit ${param("more")})
    select page.*, (select json_array(value, id) from found limit 1 offset ${param("lastIndex")}) as last,
      (select count(*) from found) > ${param("limit")} as has_more, ${more}
    from ${joinedRows(plan, listed)}`;
}

/** SQL for the JSON of rows and for `needsLocalization`, a check that takes a tenth of the time of a page. */
function joinedRows({ isLocalized, includesDrafts }: ListPlan, rows: SQL): SQL {
  const audience = includesDrafts ? "staff" : "public";
  const document = productViews[audience].json;
  const json = isLocalized ? localizedJson(document) : document;
  const other = isLocalized ? sql`0` : sql`lang <> ${param("language")} or translations <> '{}'`;
  // The size is compared first, so that SQLite does not read rows that are too large.
  const bounded = sql`case when octet_length(rendered) <= ${param("maxBytes")} then ${json} end as json`;
  return sql`(select group_concat(json) as json, sum(size) as bytes, max(size) > ${param("maxBytes")} as exceeds_bytes,
    max(other) as needsLocalization, (${newestEvents[audience]}) as state
    from (select ${bounded}, octet_length(rendered) as size, ${other} as other ${rows})) as page`;
}

function total(plan: ListPlan, source: Source): SQL {
  return plan.isCounted ? sql`(select count(*) ${matching(plan, source)})` : sql`null`;
}

const inTitles = sql`not exists (select 1 from json_each(${param("titles")}) as title where not exists (
  select 1 from product_search where product_search match title.value and rowid = products.row_number))`;

/** The column that orders the rows. The search index returns rows only in the order of row numbers. */
function sortColumn(plan: ListPlan): SQL {
  if (plan.key === "relevance") return sql`(row_number + ${sql.raw(String(firstTitlePosition))} * ${inTitles})`;
  return sql.raw(searchHasOrder(plan) ? "row_number" : sortColumns[plan.key]);
}

function orderedRows(plan: ListPlan, source: Source): SQL {
  const direction = directionOf(plan.descending);
  const column = sortColumn(plan);
  const after = afterPosition(column, plan.descending, plan.isContinued).map((one) => sql` and ${one}`);
  return sql`${matching(plan, source)}${sql.join(after)} order by ${column} ${direction}, id ${direction}`;
}

function matching(plan: ListPlan, source: Source): SQL {
  const { key, descending, filters, isContinued } = plan;
  const column = source === "index-scan" ? sortColumns[key] : source;
  const isByStatus = source === "index-scan" && key === "created_at" && filters.status !== undefined;
  const index = indexes[isByStatus ? "status" : column];
  const table = sql`products ${sql.raw(index === undefined ? "" : `indexed by ${index}`)}`;
  // A plus keeps SQLite from using an index on the column.
  const plus = sql.raw(index === undefined ? "+" : "");
  const conditions = [sql`${plus}tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  if (source === "numbers") {
    conditions.push(sql`row_number in (select cast(value as integer) from json_each(${param("numbers")}))`);
  }
  if (filters.ids !== undefined) {
    conditions.push(sql`${sql.raw(source === "ids" ? "" : "+")}id in (select value from json_each(${param("ids")}))`);
  }
  if (filters.slug !== undefined) conditions.push(sql`slug = ${param("slug")}`);
  const isAfter = isContinued && !searchHasOrder(plan) && column === sortColumns[key];
  conditions.push(...rangeConditions(filters, column, passedBounds(descending, isAfter)));
  conditions.push(...otherConditions(filters, source === "numbers" ? "words" : column));
  return sql`from ${table} where ${sql.join(conditions, sql` and `)}`;
}
