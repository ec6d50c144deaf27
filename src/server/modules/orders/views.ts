import type { Static } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { notFound } from "../../errors.ts";
import { users } from "../users/table.ts";
import { listOrders } from "./list.ts";
import type { Order, OrderListQuery } from "./model.ts";
import { orders } from "./table.ts";

export type OrderDocument = Static<typeof Order>;

/** An order with further data that tables of orders show. */
export interface OrderView {
  order: OrderDocument;
  /** Null for a guest and for a deleted user. */
  customerEmail: string | null;
  /** Decimals of the order's currency. */
  digits: number;
  /** The store's currency sign; null if the order is in another currency. */
  sign: string | null;
}

export type OrderFilter = Omit<OrderListQuery, "limit" | "cursor" | "fields" | "include_total">;

const pageSize = 100;

// The plus keeps SQLite from reading all orders of the store to find those of a page.
const selectDetails = statement<{ id: string; digits: number; sign: string | null; email: string | null }>(sql`
  select o.id as id, o.currency_digits as digits, u.email as email,
    case when t.currency = o.currency then t.currency_sign end as sign
  from ${orders} o join tenants t on t.id = o.tenant_id
  left join ${users} u on u.id = o.user_id and u.tenant_id = o.tenant_id
  where +o.tenant_id = ${param("tenantId")} and o.id in (select value from json_each(${param("ids")}))`);

async function viewOrders(ctx: Ctx, json: string): Promise<OrderView[]> {
  const found = JSON.parse(json) as OrderDocument[];
  const ids = JSON.stringify(found.map(({ id }) => id));
  const rows = await all(ctx.db, selectDetails, { tenantId: ctx.tenant.id, ids });
  const details = new Map(rows.map((row) => [row.id, row]));
  // Orders deleted since the page was read are left out.
  return found.flatMap((order) => {
    const detail = details.get(order.id);
    return detail ? [{ order, customerEmail: detail.email, digits: Number(detail.digits), sign: detail.sign }] : [];
  });
}

/** Matching orders, page by page, each a snapshot. Returns at the end whether there are more than `limit`. */
export async function* readOrderPages(ctx: Ctx, filter: OrderFilter, limit = Number.POSITIVE_INFINITY) {
  let left = limit;
  let cursor: string | undefined;
  do {
    const size = Math.min(pageSize, left);
    const page = await listOrders(ctx, { ...filter, limit: size, ...(cursor !== undefined && { cursor }) });
    left -= size;
    cursor = page.page.next_cursor ?? undefined;
    yield await viewOrders(ctx, page.json);
  } while (cursor !== undefined && left > 0);
  return cursor !== undefined;
}

/** One order. Errors: notFound. */
export async function getOrderView(ctx: Ctx, id: string): Promise<OrderView> {
  const [view] = (await listOrderViews(ctx, { ids: id }, 1)).views;
  if (view === undefined) throw notFound("order", id);
  return view;
}

/** The newest matching orders, at most `limit`, and whether there are more. */
export async function listOrderViews(ctx: Ctx, filter: OrderFilter, limit: number) {
  const pages = readOrderPages(ctx, filter, limit);
  const views: OrderView[] = [];
  for (;;) {
    const { value, done } = await pages.next();
    if (done) return { views, hasMore: value };
    views.push(...value);
  }
}
