import { encodeCursor } from "./cursor.ts";
import { type Fields, pickFields } from "./list-query.ts";

/** What one statement answers of a page by keyset. */
export interface PageRow {
  /** The records, joined by commas; null when there are none. */
  json: string | null;
  /** JSON array of sort value and id of the page's last row; null when the page is not full. */
  last: string | null;
  has_more: number;
  /** How many match altogether, where that was asked. */
  total: number | null;
}

/** A page of records: their JSON in order, and how to go on. */
export interface ListPage {
  json: string;
  nextCursor: string | null;
  limit: number;
  total?: number;
}

/**
 * The page that a row tells of.
 * @param asked everything that decides which rows come in which order; the cursor is bound to it.
 */
export function toListPage(
  row: PageRow | undefined,
  { asked, limit, fields }: { asked: readonly unknown[]; limit: number; fields: Fields | undefined },
): ListPage {
  const last = row?.has_more && row.last ? (JSON.parse(row.last) as [string | number, string]) : undefined;
  return {
    json: pickFields(`[${row?.json ?? ""}]`, fields),
    nextCursor: last ? encodeCursor({ value: last[0], id: last[1] }, asked) : null,
    limit,
    ...(row?.total != null && { total: row.total }),
  };
}
