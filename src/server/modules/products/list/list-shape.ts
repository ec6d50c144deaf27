import type { ProductFilters } from "./list-filters.ts";
import type { ProductSortKey } from "./list-model.ts";

/** What one statement answers of a page. */
export interface PageRow {
  /** The products, joined by commas; null when there are none. */
  json: string | null;
  /** The first and the last of their languages by name: the same where they have one language. */
  first_language: string | null;
  last_language: string | null;
  /** 1 where the rows stand in their own languages, and some of them have others. */
  is_unserved: number | null;
  /** JSON array of sort value and id of where the page ends: its last row; null when it is not full, and none follows. */
  last: string | null;
  has_more: number;
  total: number | null;
}

/**
 * Where the rows of a page come from: a walk in the order of the sort, where one index tells all (`walk`); all that fit a
 * range or a status, gathered by its index and sorted (`price_minor` and so on); few that are named (`ids`, `slug`); the
 * search index, newest first (`match`).
 */
export type Source = "walk" | Gathered | "ids" | "slug" | "match";
export type Gathered = "price_minor" | "created_at" | "updated_at" | "status";

/** Which list it is, apart from values. */
export interface ListShape {
  key: ProductSortKey;
  descending: boolean;
  filters: ProductFilters;
  isContinued: boolean;
  /** Whether the caller may see what is not published. */
  isOpen: boolean;
  /** Whether the statement counts all that match; only where these are few. */
  isCounted: boolean;
  /** Whether texts are looked for in other languages; without it rows are passed on as they were written. */
  isServed: boolean;
}

/** The columns of the ranges, and the names of their ends. */
export const ranges = [
  { column: "price_minor", from: "priceFrom", to: "priceTo" },
  { column: "created_at", from: "createdFrom", to: "createdTo" },
  { column: "updated_at", from: "updatedFrom", to: "updatedTo" },
] as const satisfies readonly { column: Gathered; from: keyof ProductFilters; to: keyof ProductFilters }[];
