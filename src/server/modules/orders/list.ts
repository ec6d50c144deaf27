import type { Static } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList, timeFilters } from "../../db/keyset-list.ts";
import { param } from "../../db/statement.ts";
import { invalidField, notFound } from "../../errors.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { parseIds } from "../../pagination/list-query.ts";
import { emailKey } from "../../values/email.ts";
import { isId } from "../../values/stamps.ts";
import { forEachAudience } from "../catalogue/products/rendering.ts";
import { orderAttention } from "./attention/table.ts";
import { requireStore, subjectOf } from "./input.ts";
import { Order, type OrderListQuery } from "./model.ts";
import { findOrders } from "./search.ts";
import { orderAudience, orderJson } from "./statements.ts";
import { orders } from "./table.ts";
import { readOrderNumber } from "./transfer-reference.ts";

export const orderFields = Object.keys(Order.properties);

const readPages = forEachAudience((audience) =>
  keysetList({
    name: "orders",
    fields: orderFields,
    json: orderJson[audience],
    bytes: sql`(select sum(500 + octet_length(title) + octet_length(options)) from order_lines where order_id = orders.id)`,
    from: sql`from ${orders}`,
    conditions: {
      ids: sql`id in (select value from json_each(${param("ids")}))`,
      q: sql`id in (select value from json_each(${param("found")}))`,
      attention: sql`exists (select 1 from ${orderAttention} a where a.order_id = orders.id and a.ended_at is null
        and ${param("attention")} in ('any', a.kind))`,
    },
    sorts: { created_at: sql`created_at`, updated_at: sql`updated_at`, number: sql`number` },
  }),
);

export async function listOrders(ctx: Ctx, query: OrderListQuery, subject?: string): Promise<ListPage> {
  // A malformed id finds nothing. Only NUL is removed, because it must not reach the database.
  const userId = subjectOf(ctx, query.customer_id, subject)?.replaceAll("\0", "");
  const { status, payment_status, number, attention, ids, email, q, sort = "created_at" } = query;
  if (attention !== undefined || q !== undefined) requireStore(ctx);
  const hasIds = ids !== undefined || q !== undefined;
  const filters = {
    ...{ user_id: userId, status, payment_status, number, attention, q },
    // A malformed email address has the key null, which finds nothing.
    email_key: email === undefined ? undefined : emailKey(email),
    ...timeFilters(query, "created_at"),
    ...timeFilters(query, "updated_at"),
    ids: ids === undefined ? undefined : JSON.stringify(parseIds(ids)),
  };
  // The index by customer is sorted by creation time only, and the index by email is not sorted.
  const isUnsorted = email !== undefined || (userId !== undefined && !sort.endsWith("created_at"));
  const unindexed = { tenant: hasIds, sort: hasIds || isUnsorted };
  const values = { found: q === undefined ? null : JSON.stringify(await findOrders(ctx, q)) };
  return readPages[orderAudience(ctx)](ctx, query, { filters, values, unindexed });
}

export type OrderDocument = Static<typeof Order>;

export type OrderFilter = Omit<OrderListQuery, "limit" | "cursor" | "fields" | "include_total">;

/** Yields at most `limit` matching orders in pages. */
export async function* readOrderPages(ctx: Ctx, filter: OrderFilter, limit = Number.POSITIVE_INFINITY) {
  let left = limit;
  let cursor: string | undefined;
  do {
    const size = Math.min(100, left);
    const { json, page } = await listOrders(ctx, { ...filter, limit: size, ...(cursor !== undefined && { cursor }) });
    left -= size;
    cursor = page.next_cursor ?? undefined;
    yield JSON.parse(json) as OrderDocument[];
  } while (cursor !== undefined && left > 0);
}

/** Returns at most `limit` matching orders. */
export async function readOrders(ctx: Ctx, filter: OrderFilter, limit: number): Promise<OrderDocument[]> {
  return (await Array.fromAsync(readOrderPages(ctx, filter, limit))).flat();
}

/** Finds an order by its id, number or transfer reference. Errors: notFound, validationFailed for wrong check digits. */
export async function findOrder(ctx: Ctx, named: string): Promise<OrderDocument> {
  const number = readOrderNumber(named);
  if (number === null) throw invalidField("order", "is a transfer reference with wrong check digits. Check it again");
  if (number !== undefined || isId("ord", named)) {
    const [found] = await readOrders(ctx, number === undefined ? { ids: named } : { number }, 1);
    if (found) return found;
  }
  const { namespace } = ctx.tenant;
  const remedy = `List orders: bodega order list -n ${namespace}`;
  throw notFound("order", named, { in: `store ${JSON.stringify(namespace)}`, remedy });
}
