import { type SQL, sql } from "drizzle-orm";
import { param } from "../../../db/statement.ts";
import type { ProductFilters } from "./filters.ts";
import type { ProductSortKey } from "./model.ts";

/** A column with filters that an index begins with. */
export type FilterColumn = "price_minor" | "created_at" | "updated_at" | "status";

/** The rows of a page: an index in sort order (`walk`), one column's index, or a few named rows. */
export type Source = "walk" | FilterColumn | "ids" | "slug" | "numbers";

/** A list apart from the values of its parameters. */
export interface ListShape {
  key: ProductSortKey;
  descending: boolean;
  filters: ProductFilters;
  isContinued: boolean;
  /** Whether the caller sees whole products, and drafts. */
  isOpen: boolean;
  /** Whether the statement counts all matches; only for few. */
  isCounted: boolean;
  /** Whether texts are translated; otherwise rows are passed through as stored. */
  isServed: boolean;
}

/** The columns with ranges, and the names of their bounds. */
export const ranges = [
  { column: "price_minor", from: "priceFrom", to: "priceTo" },
  { column: "created_at", from: "createdFrom", to: "createdTo" },
  { column: "updated_at", from: "updatedFrom", to: "updatedTo" },
] as const satisfies readonly { column: FilterColumn; from: keyof ProductFilters; to: keyof ProductFilters }[];

/** The columns of sort keys. Relevance sorts by creation, titles first. */
export const sortColumns: Record<ProductSortKey, string> = {
  created_at: "created_at",
  updated_at: "updated_at",
  price: "price_minor",
  title: "title",
  views_count: "views_count",
  popular: "popularity",
  relevance: "created_at",
};

/** More than any row number: an order by relevance adds it to those of products with all words in a title. */
export const titleRank = 2 ** 50;

/** The index that begins with a column, after the tenant. */
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

/** Whether the search index has the order of a list. */
export function hasOrder({ key, filters }: Pick<ListShape, "key" | "filters">): boolean {
  return filters.terms !== undefined && sortColumns[key] === "created_at";
}

export const directionOf = (descending: boolean): SQL => sql.raw(descending ? "desc" : "asc");

/** Rows after the cursor; no condition on the first page. */
export function afterPosition(column: SQL, descending: boolean, isContinued: boolean): SQL[] {
  if (!isContinued) return [];
  return [sql`(${column}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`];
}

/** The range of a column, or the status. No index is used for `passed`, the bound that the cursor has passed. */
export function rangeConditions(filters: ProductFilters, column: string, passed?: "from" | "to" | "both"): SQL[] {
  if (column === "status") return filters.status === undefined ? [] : [sql`status = ${param("status")}`];
  const name = (end: "from" | "to") => sql.raw((passed === end || passed === "both" ? "+" : "") + column);
  return ranges
    .filter((range) => range.column === column)
    .flatMap(({ from, to }) => [
      ...(filters[from] === undefined ? [] : [sql`${name("from")} >= ${param(from)}`]),
      ...(filters[to] === undefined ? [] : [sql`${name("to")} <= ${param(to)}`]),
    ]);
}

/** The bound of a range that the cursor has passed. */
export function passedEnd(descending: boolean, isContinued: boolean): "from" | "to" | undefined {
  return isContinued ? (descending ? "to" : "from") : undefined;
}

/** The conditions on columns other than these, and those that no index of columns contains. */
export function otherConditions(filters: ProductFilters, ...columns: string[]): SQL[] {
  const others = ["status", ...ranges.map(({ column }) => column)].filter((column) => !columns.includes(column));
  const conditions = others.flatMap((column) => rangeConditions(filters, column, "both"));
  const given = Object.entries(rowConditions).filter(([name]) => name in filters);
  return [...conditions, ...given.map(([, condition]) => condition)];
}

/**
 * The conditions of a filter on a row. The search index knows most, too, but is asked for the rarest only; and it knows
 * the options of a product, but not which variant has them together.
 */
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
} satisfies Partial<Record<keyof ProductFilters, SQL>>;
