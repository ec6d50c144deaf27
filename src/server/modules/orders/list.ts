import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { type CompiledStatement, get, param, statement } from "../../db/statement.ts";
import { decodeCursor } from "../../pagination/cursor.ts";
import { type ListPage, type PageRow, toListPage } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields, parseIds, type RangeBound, readTimeRange } from "../../pagination/list-query.ts";
import { Order, type OrderListQuery, type OrderSortKey } from "./model.ts";
import { subjectOf } from "./ownership.ts";
import { orderJson } from "./rendering.ts";
import { orders } from "./table.ts";

const sortColumns: Record<OrderSortKey, SQL> = {
  created_at: sql`created_at`,
  updated_at: sql`updated_at`,
  number: sql`number`,
};
const orderFields = Object.keys(Order.properties);

/** One condition: its SQL, whose placeholders are named in `values`. */
interface Condition {
  sql: SQL;
  values: Record<string, unknown>;
}

/** One statement for each shape of list; there are as many as sorts and sets of filters that are asked for. */
const statements = new Map<string, CompiledStatement<PageRow>>();

/**
 * One page of the tenant's orders by keyset, newest first unless asked otherwise; of customers only their own.
 * @param subject the `user_id` beside app credentials: whose orders.
 * @throws malformedRequest for a cursor that is broken or belongs to another list, validationFailed for a filter at fault, notFound for a
 * customer who asks for somebody else's.
 */
export async function listOrders(ctx: Ctx, query: OrderListQuery, subject?: string): Promise<ListPage> {
  const limit = query.limit ?? defaultLimit;
  const sort = query.sort ?? "-created_at";
  const fields = parseFields(query.fields, orderFields);
  const conditions = conditionsOf(query, subjectOf(ctx, query.customer_id, subject));
  const values = Object.assign({}, ...conditions.map((one) => one.values)) as Record<string, unknown>;
  const asked = [ctx.tenant.id, "orders", sort, ...conditions.map((one) => Object.entries(one.values))];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  const isCounted = query.include_total ?? false;
  const name = `${sort} ${Object.keys(values)} ${after !== undefined} ${isCounted}`;
  let select = statements.get(name);
  if (!select) {
    const filters = new Set(Object.keys(values));
    const parts = conditions.map((one) => one.sql);
    select = listStatement(sort, filters, parts, after !== undefined, isCounted);
    statements.set(name, select);
  }
  const row = await get(ctx.db, select, {
    tenantId: ctx.tenant.id,
    ...values,
    value: after?.value,
    id: after?.id,
    limit,
    lastIndex: limit - 1,
  });
  return toListPage(row, { asked, limit, fields });
}

function conditionsOf(query: OrderListQuery, userId: string | null): Condition[] {
  const equal = (column: string, value: unknown): Condition[] =>
    value === undefined || value === null
      ? []
      : [{ sql: sql`${sql.raw(column)} = ${param(column)}`, values: { [column]: value } }];
  const range = (column: string, bounds: RangeBound[]): Condition[] =>
    bounds.map(({ operator, value }) => {
      const name = `${column} ${operator}`;
      return { sql: sql`${sql.raw(name)} ${param(name)}`, values: { [name]: value } };
    });
  const ids = query.ids === undefined ? undefined : JSON.stringify(parseIds(query.ids));
  return [
    // What is not in the form of an id is compared and found nowhere; only NUL would not reach the database whole.
    ...equal("user_id", userId?.replaceAll("\0", "")),
    ...equal("status", query.status),
    ...equal("payment_status", query.payment_status),
    ...equal("number", query.number),
    ...range("created_at", readTimeRange(query, "created_at")),
    ...range("updated_at", readTimeRange(query, "updated_at")),
    ...(ids === undefined ? [] : [{ sql: sql`id in (select value from json_each(${param("ids")}))`, values: { ids } }]),
  ];
}

/** Page, last position, total and whether more follows are one statement, and so one snapshot, whatever others write. */
function listStatement(
  sort: string,
  filters: ReadonlySet<string>,
  conditions: readonly SQL[],
  isContinued: boolean,
  isCounted: boolean,
): CompiledStatement<PageRow> {
  const isDescending = sort.startsWith("-");
  const key = (isDescending ? sort.slice(1) : sort) as OrderSortKey;
  // The sign keeps SQLite from walking all orders of the store in order where few are meant: those of some ids, those
  // of one customer. The customer's stand in order of creation by themselves.
  const plain = sortColumns[key];
  const column = filters.has("ids") || (filters.has("user_id") && key !== "created_at") ? sql`+${plain}` : plain;
  const ofTenant = sql`tenant_id = ${param("tenantId")}`;
  const all = [filters.has("ids") ? sql`+${ofTenant}` : ofTenant, ...conditions];
  const matching = sql`from ${orders} where ${sql.join(all, sql` and `)}`;
  const position = isContinued
    ? sql` and (${column}, id) ${sql.raw(isDescending ? "<" : ">")} (${param("value")}, ${param("id")})`
    : sql``;
  const direction = sql.raw(isDescending ? "desc" : "asc");
  const page = sql`${matching}${position} order by ${column} ${direction}, id ${direction}`;
  return statement<PageRow>(sql`select
    (select group_concat(rendered) from (select ${orderJson} as rendered ${page} limit ${param("limit")})) as json,
    (select json_array(${column}, id) ${page} limit 1 offset ${param("lastIndex")}) as last,
    exists(select 1 ${page} limit 1 offset ${param("limit")}) as has_more,
    ${isCounted ? sql`(select count(*) ${matching})` : sql`null`} as total`);
}
