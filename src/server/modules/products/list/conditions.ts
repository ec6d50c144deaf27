import { type SQL, sql } from "drizzle-orm";
import { param } from "../../../db/statement.ts";
import type { ProductFilters } from "./filters.ts";
import type { ProductSortKey } from "./model.ts";

/** A column with filters that an index begins with. */
export type FilterColumn = "price_minor" | "created_at" | "updated_at" | "status";

/** The rows of a page: an index in sort order (`walk`), one column's index, a few named rows, or the search index. */
export type Source = "walk" | FilterColumn | "ids" | "slug" | "match";

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

export const sortColumns: Record<ProductSortKey, string> = {
  created_at: "created_at",
  updated_at: "updated_at",
  price: "price_minor",
  title: "title",
};

/** The index that begins with a column, after the tenant. */
export const indexes: Record<string, string> = {
  created_at: "products_by_created",
  updated_at: "products_by_updated",
  price_minor: "products_by_price",
  title: "products_by_title",
  status: "products_by_status",
  slug: "products_slug",
};

export const directionOf = (descending: boolean): SQL => sql.raw(descending ? "desc" : "asc");

/** Rows after the cursor; no condition on the first page. */
export function afterPosition(column: string, descending: boolean, isContinued: boolean): SQL[] {
  if (!isContinued) return [];
  return [sql`(${sql.raw(column)}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`];
}

/** Rows of a search after the cursor. JavaScript numbers bind as REAL, with which FTS5 would scan its whole table. */
export function afterRow(column: string, descending: boolean, isContinued: boolean): SQL[] {
  if (!isContinued) return [];
  return [sql`${sql.raw(`${column} ${descending ? "<" : ">"}`)} cast(${param("value")} as integer)`];
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

/** The conditions on columns other than these. */
export function otherConditions(filters: ProductFilters, ...columns: string[]): SQL[] {
  const others = ranges.filter((range) => !columns.includes(range.column));
  const conditions = others.flatMap((range) => rangeConditions(filters, range.column, "both"));
  return columns.includes("status") ? conditions : [...rangeConditions(filters, "status"), ...conditions];
}
