import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { type CompiledStatement, get, param, statement } from "../../db/statement.ts";
import { decodeCursor } from "../../pagination/cursor.ts";
import { type ListPage, type PageRow, toListPage } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields, parseIds, type RangeBound, readTimeRange } from "../../pagination/list-query.ts";
import { Order, type OrderListQuery, type OrderSortKey } from "./model.ts";
import { subjectOf } from "./ownership.ts";
import { orderJson } from "./statements.ts";
import { orders } from "./table.ts";

const sortColumns: Record<OrderSortKey, SQL> = {
  created_at: sql`created_at`,
  updated_at: sql`updated_at`,
  number: sql`number`,
};
const orderFields = Object.keys(Order.properties);

/** A condition and the values of its parameters. */
interface Condition {
  sql: SQL;
  values: Record<string, unknown>;
}

/** One statement for each combination of sort and filters in use. */
const statements = new Map<string, CompiledStatement<PageRow>>();

/**
 * One page of the store's orders by keyset, newest first by default. Customers see their own only.
 * @throws malformedRequest, validationFailed, notFound for a customer who asks for another's orders.
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
    select = listStatement({ sort, conditions, isContinued: after !== undefined, isCounted });
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
    // A malformed id finds nothing; only NUL must not reach the database.
    ...equal("user_id", userId?.replaceAll("\0", "")),
    ...equal("status", query.status),
    ...equal("payment_status", query.payment_status),
    ...equal("number", query.number),
    ...range("created_at", readTimeRange(query, "created_at")),
    ...range("updated_at", readTimeRange(query, "updated_at")),
    ...(ids === undefined ? [] : [{ sql: sql`id in (select value from json_each(${param("ids")}))`, values: { ids } }]),
  ];
}

interface ListShape {
  sort: string;
  conditions: readonly Condition[];
  isContinued: boolean;
  isCounted: boolean;
}

/** Page, last position and total are one statement, and so one snapshot. */
function listStatement({ sort, conditions, isContinued, isCounted }: ListShape): CompiledStatement<PageRow> {
  const isDescending = sort.startsWith("-");
  const key = (isDescending ? sort.slice(1) : sort) as OrderSortKey;
  const has = (name: string) => conditions.some(({ values }) => name in values);
  // The plus keeps SQLite from walking all orders of the store for those of some ids or of one customer. A customer's
  // orders by creation have their own index.
  const plain = sortColumns[key];
  const column = has("ids") || (has("user_id") && key !== "created_at") ? sql`+${plain}` : plain;
  const ofTenant = sql`tenant_id = ${param("tenantId")}`;
  const all = [has("ids") ? sql`+${ofTenant}` : ofTenant, ...conditions.map((one) => one.sql)];
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
