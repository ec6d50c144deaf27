import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList, timeFilters } from "../../db/keyset-list.ts";
import { param } from "../../db/statement.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { parseIds } from "../../pagination/list-query.ts";
import { subjectOf } from "./input.ts";
import { Order, type OrderListQuery } from "./model.ts";
import { orderJson } from "./statements.ts";
import { orders } from "./table.ts";

export const orderFields = Object.keys(Order.properties);

const readPage = keysetList({
  name: "orders",
  fields: orderFields,
  json: orderJson,
  bytes: sql`(select sum(500 + octet_length(title) + octet_length(options)) from order_lines where order_id = orders.id)`,
  from: sql`from ${orders}`,
  conditions: { ids: sql`id in (select value from json_each(${param("ids")}))` },
  sorts: { created_at: sql`created_at`, updated_at: sql`updated_at`, number: sql`number` },
});

export async function listOrders(ctx: Ctx, query: OrderListQuery, subject?: string): Promise<ListPage> {
  // A malformed id finds nothing, but NUL must not reach the database.
  const userId = subjectOf(ctx, query.customer_id, subject)?.replaceAll("\0", "");
  const hasIds = query.ids !== undefined;
  const isByCreation = query.sort === undefined || query.sort.endsWith("created_at");
  const filters = {
    user_id: userId,
    status: query.status,
    payment_status: query.payment_status,
    number: query.number,
    ...timeFilters(query, "created_at"),
    ...timeFilters(query, "updated_at"),
    ids: query.ids === undefined ? undefined : JSON.stringify(parseIds(query.ids)),
  };
  // A customer's orders by creation have an index of their own.
  const unindexed = { tenant: hasIds, sort: hasIds || (userId !== undefined && !isByCreation) };
  return readPage(ctx, query, { filters, unindexed });
}
