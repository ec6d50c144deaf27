import { type SQL, sql } from "drizzle-orm";
import { param } from "../../../db/statement.ts";
import type { ProductFilters } from "./list-filters.ts";
import type { ProductSortKey } from "./list-model.ts";
import { ranges } from "./list-shape.ts";

/** The column by which a key sorts. */
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

/** Rows behind the position in the direction; none where there is no position. */
export function afterPosition(column: string, descending: boolean, isContinued: boolean): SQL[] {
  if (!isContinued) return [];
  return [sql`(${sql.raw(column)}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`];
}

/**
 * The ends of a column's range, or the status.
 * @param passed the end that a position lies behind, and so says more than: it is kept out of the choice of an index.
 */
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

/** The end of a range that a walk leaves behind with the first page. */
export function passedEnd(descending: boolean, isContinued: boolean): "from" | "to" | undefined {
  return isContinued ? (descending ? "to" : "from") : undefined;
}

/** The ranges of columns other than these, and the status unless it is one of them. */
export function otherConditions(filters: ProductFilters, ...columns: string[]): SQL[] {
  const others = ranges.filter((range) => !columns.includes(range.column));
  const conditions = others.flatMap((range) => rangeConditions(filters, range.column, "both"));
  return columns.includes("status") ? conditions : [...rangeConditions(filters, "status"), ...conditions];
}
