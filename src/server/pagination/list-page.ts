import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { malformedRequest } from "../errors.ts";
import { attempt } from "../values/attempt.ts";
import { output } from "../values/schema.ts";
import { type Fields, pickFields } from "./list-query.ts";

/** A page with more bytes would block other requests, so a page of large records ends early. */
const maxPageBytes = 1024 * 1024;

export interface PageRow {
  bytes: number | null;
  /** 1 if the page omits records that each have more than `maxBytes`. */
  exceeds_bytes: number | null;
  /** The records, joined by commas; null if there are none. */
  json: string | null;
  /** JSON array of sort value and id of the page's last row; null when the page is not full. */
  last: string | null;
  has_more: number;
  total: number | null;
}

export type Page = Static<typeof pageSchema>;
export type ProductFacets = Static<typeof productFacets>;

const facetOf = (value: TProperties) =>
  Type.Optional(
    Type.Object({
      values: Type.Array(Type.Object({ ...value, count: Type.Integer({ minimum: 1 }) })),
      is_complete: Type.Boolean({ description: "False if there are more products than were counted." }),
    }),
  );
const productFacets = Type.Object(
  {
    tags: facetOf({ value: Type.String() }),
    categories: facetOf({ id: Type.String(), slug: Type.String(), title: Type.String() }),
    options: facetOf({ name: Type.String(), value: Type.String() }),
    price: facetOf({ gte: Type.Number(), lt: Type.Number() }),
  },
  {
    description:
      "The number of products with each value, if `facets` is sent. At most 100 tags, categories and options, most frequent first.",
  },
);

export const pageSchema = output("Page", {
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `cursor` for the next page." }),
  has_more: Type.Boolean({ description: "Whether there is a next page." }),
  limit: Type.Integer({ description: "Maximum number of records on this page." }),
  total: Type.Optional(Type.Integer({ description: "Number of records on all pages; with `include_total=true`." })),
  total_is_at_least: Type.Optional(Type.Integer({ description: "Sent instead of `total` if counting ended early." })),
  facets: Type.Optional(productFacets),
});

/** A part of a stream: new records, the cursor after them, and whether there are no further records for now. */
export interface StreamPart<Row = { id: string }> {
  records: Row[];
  after: string;
  isLast: boolean;
}

export interface ListPage {
  json: string;
  page: Page;
}

/** Reads a page of at most `limit` records that have at most 1 MiB together, or of one record of any size. */
export async function readWithinBytes<Row extends PageRow>(
  limit: number,
  read: (bounds: Record<"limit" | "more" | "lastIndex" | "maxBytes", number>) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  let size = limit;
  let maxBytes = Math.floor(maxPageBytes / size);
  for (;;) {
    const row = await read({ limit: size, more: size + 1, lastIndex: size - 1, maxBytes });
    if (!row?.exceeds_bytes) return row;
    const bytes = row.bytes ?? 0;
    if (size === 1 || bytes <= maxPageBytes) maxBytes = Number.MAX_SAFE_INTEGER;
    else {
      size = Math.max(1, Math.floor((size * maxPageBytes) / bytes));
      maxBytes = Math.floor(maxPageBytes / size);
    }
  }
}

/** Returns a page of a list. `asked` contains everything that determines the rows and their order. */
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

export interface Position {
  value: string | number;
  id: string;
}

/** Returns a cursor that is valid only for a list with the same `asked`: sort, filters and tenant. */
export function encodeCursor({ value, id }: Position, asked: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([digest([asked, value, id]), value, id])).toString("base64url");
}

/** Returns the position in a cursor. Throws malformedRequest for an invalid cursor, or one from another list. */
export function decodeCursor(cursor: string, asked: readonly unknown[]): Position {
  const parts: unknown = attempt(() => JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  const [bound, value, id] = Array.isArray(parts) && parts.length === 3 ? parts : [];
  const isValue = typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
  if (bound !== digest([asked, value, id]) || !isValue || typeof id !== "string") {
    throw malformedRequest("`cursor` is invalid, or belongs to another sort or filter. Start again without it.");
  }
  return { value, id };
}

/** No secret is needed: a forged cursor only selects rows that its caller may read anyway. */
function digest(bound: readonly unknown[]): string {
  return Bun.hash(JSON.stringify(bound)).toString(36);
}
