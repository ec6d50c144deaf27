import { encodeCursor } from "./cursor.ts";
import { type Fields, pickFields } from "./list-query.ts";

/** The row that the statement of a page returns. */
export interface PageRow {
  /** The records, joined by commas; null when there are none. */
  json: string | null;
  /** JSON array of sort value and id of the page's last row; null when the page is not full. */
  last: string | null;
  has_more: number;
  /** The number of all matches, if the caller asked for it. */
  total: number | null;
}

/** Where a page of a list ends; sent as `page` next to `data`. */
export interface Page {
  next_cursor: string | null;
  has_more: boolean;
  limit: number;
  /** The number of all matches, if the caller asked for it. */
  total?: number;
}

/** A page of records: the JSON array, and where it ends. */
export interface ListPage {
  json: string;
  page: Page;
}

/** Makes the page from a statement's row. `asked` contains everything that determines the rows and their order. */
export function toListPage(
  row: PageRow | undefined,
  { asked, limit, fields }: { asked: readonly unknown[]; limit: number; fields: Fields | undefined },
): ListPage {
  const last = row?.has_more && row.last ? (JSON.parse(row.last) as [string | number, string]) : undefined;
  return {
    json: pickFields(`[${row?.json ?? ""}]`, fields),
    page: {
      next_cursor: last ? encodeCursor({ value: last[0], id: last[1] }, asked) : null,
      has_more: last !== undefined,
      limit,
      ...(row?.total != null && { total: row.total }),
    },
  };
}
