import type { Static, TObject } from "@sinclair/typebox";
import { type SQL, sql } from "drizzle-orm";
import { decodeCursor, type ListPage, type PageRow, readWithinBytes, toListPage } from "../pagination/list-page.ts";
import { defaultLimit, type listParts, parseFields, readTimeRange } from "../pagination/list-query.ts";
import { LruCache } from "../values/lru-cache.ts";
import type { Executor } from "./session.ts";
import { get, param, type Statement, statement } from "./statement.ts";

interface KeysetList {
  /** A cursor is valid only for the list whose name it contains. */
  name: string;
  fields?: readonly string[];
  json: SQL;
  /** SQL for the approximate size of a record in bytes, if records can have more than a few KiB. */
  bytes?: SQL;
  from: SQL;
  /** The `from` clause for `json`, if `json` needs more tables than the conditions. */
  joined?: SQL;
  /** Condition for all rows. Default: the row belongs to the store. */
  base?: SQL;
  /** The SQL of each filter. A filter that is not listed here compares the column that has the filter's name. */
  conditions?: Record<string, SQL>;
  /** The column of each sort key. By default, a list is sorted by the first one, descending. */
  sorts: Record<string, SQL>;
  /** The second sort key, for rows that are equal in the first. Null if the first is unique. Default: `id`. */
  tie?: SQL | null;
  id?: SQL;
}

interface ListOptions {
  /** The value of each filter. An undefined value does not filter. */
  filters: Record<string, unknown>;
  /** Other parameters of the statement. They must not change which rows are listed, or their order. */
  values?: Record<string, unknown>;
  /** Columns whose index SQLite must not use, because an index for the filters is better. */
  unindexed?: { tenant?: boolean; sort?: boolean };
}

interface Shape {
  sort: string;
  names: string[];
  isContinued: boolean;
  isCounted: boolean;
  unindexed: NonNullable<ListOptions["unindexed"]>;
}

/**
 * Creates a function that reads pages of a list, with keyset pagination. Each combination of sort and filters is
 * compiled once.
 * @throws malformedRequest for a cursor that is invalid or of another list, validationFailed for unknown `fields`.
 */
export function keysetList(list: KeysetList) {
  const statements = new LruCache<Statement<PageRow>>(200);
  const defaultSort = `-${Object.keys(list.sorts)[0]}`;
  return async (
    { db, tenant }: { db: Executor; tenant: { id: string } },
    query: Static<TObject<typeof listParts>> & { sort?: string },
    { filters, values, unindexed = {} }: ListOptions,
  ): Promise<ListPage> => {
    const { limit = defaultLimit, sort = defaultSort, cursor, include_total: isCounted = false } = query;
    const fields = list.fields && parseFields(query.fields, list.fields);
    const given = Object.entries(filters).filter(([, value]) => value !== undefined);
    const names = given.map(([name]) => name);
    const asked = [tenant.id, list.name, sort, given];
    const after = cursor === undefined ? undefined : decodeCursor(cursor, asked);
    const isContinued = after !== undefined;
    const key = `${sort} ${names} ${isContinued} ${isCounted} ${unindexed.tenant} ${unindexed.sort}`;
    const shape = { sort, names, isContinued, isCounted, unindexed };
    const select = statements.getOrMake(key, () => compilePage(list, shape));
    const all = { ...filters, ...values, value: after?.value, id: after?.id, tenantId: tenant.id };
    const row = await readWithinBytes(limit, (bounds) => get(db, select, { ...all, ...bounds }));
    return toListPage(row, { asked, limit, fields });
  };
}

/** Compiles one statement for page, last position and total, so that all of them are from one snapshot. */
function compilePage(list: KeysetList, shape: Shape): Statement<PageRow> {
  const { json, bytes, from, joined = from, id = sql`id`, tie = id, conditions = {} } = list;
  const { base = sql`tenant_id = ${param("tenantId")}` } = list;
  const { sort, names, isContinued, isCounted, unindexed } = shape;
  const isDescending = sort.startsWith("-");
  const column = list.sorts[isDescending ? sort.slice(1) : sort] as SQL;
  // A leading plus keeps SQLite from using an index on the column.
  const sorted = unindexed.sort ? sql`+${column}` : column;
  const compared = (name: string) => sql`${sql.raw(name.includes(" ") ? name : `${name} =`)} ${param(name)}`;
  const all = [unindexed.tenant ? sql`+${base}` : base, ...names.map((name) => conditions[name] ?? compared(name))];
  const matching = sql`where ${sql.join(all, sql` and `)}`;
  const beyond = sql.raw(isDescending ? "<" : ">");
  const after = tie
    ? sql` and (${sorted}, ${tie}) ${beyond} (${param("value")}, ${param("id")})`
    : sql` and ${sorted} ${beyond} ${param("value")}`;
  const direction = sql.raw(isDescending ? "desc" : "asc");
  const order = tie ? sql`${sorted} ${direction}, ${tie} ${direction}` : sql`${sorted} ${direction}`;
  const page = sql`${matching}${isContinued ? after : sql``} order by ${order}`;
  const bounded = bytes
    ? sql`case when ${bytes} <= ${param("maxBytes")} then ${json} end as rendered, ${bytes} as size`
    : sql`${json} as rendered, 0 as size`;
  return statement<PageRow>(sql`select page.*,
    (select json_array(${sorted}, ${id}) ${from} ${page} limit 1 offset ${param("lastIndex")}) as last,
    exists(select 1 ${from} ${page} limit 1 offset ${param("limit")}) as has_more,
    ${isCounted ? sql`(select count(*) ${from} ${matching})` : sql`null`} as total
    from (select group_concat(rendered) as json, sum(size) as bytes, max(size) > ${param("maxBytes")} as exceeds_bytes
      from (select ${bounded} ${joined} ${page} limit ${param("limit")})) as page`);
}

/** Returns the time range that a query gives for a column, as filters. Throws validationFailed, naming the field. */
export function timeFilters(query: Readonly<Record<string, unknown>>, column: string): Record<string, string | number> {
  const bounds = readTimeRange(query, column);
  return Object.fromEntries(bounds.map(({ operator, value }) => [`${column} ${operator}`, value]));
}
