import type { Static } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { users } from "../users/table.ts";
import { listOrders } from "./list.ts";
import type { Order, OrderListQuery } from "./model.ts";
import { orders } from "./table.ts";

/** An order as every reply shows it. */
export type OrderDocument = Static<typeof Order>;

/** An order with what people need to read it. */
export interface OrderView {
  order: OrderDocument;
  /** Null for a guest, and for a user that is no more. */
  customerEmail: string | null;
  /** Decimals of the order's currency, as they were when it was made. */
  digits: number;
  /** The store's sign of the currency; null where the order is in another one. */
  sign: string | null;
}

/** What orders are chosen by. */
export type OrderFilter = Omit<OrderListQuery, "limit" | "cursor" | "fields" | "include_total">;

const pageSize = 100;

// The sign keeps SQLite from walking all orders of the store for the few of a page.
const selectNotes = statement<{ id: string; digits: number; sign: string | null; email: string | null }>(sql`
  select o.id as id, o.currency_digits as digits, u.email as email,
    case when t.currency = o.currency then t.currency_sign end as sign
  from ${orders} o join tenants t on t.id = o.tenant_id
  left join ${users} u on u.id = o.user_id and u.tenant_id = o.tenant_id
  where +o.tenant_id = ${param("tenantId")} and o.id in (select value from json_each(${param("ids")}))`);

/** The orders of a JSON array, with what people need to read them. */
async function viewOrders(ctx: Ctx, json: string): Promise<OrderView[]> {
  const found = JSON.parse(json) as OrderDocument[];
  const ids = JSON.stringify(found.map(({ id }) => id));
  const rows = await all(ctx.db, selectNotes, { tenantId: ctx.tenant.id, ids });
  const notes = new Map(rows.map((row) => [row.id, row]));
  // One that has been removed since the page was read is left out.
  return found.flatMap((order) => {
    const note = notes.get(order.id);
    return note ? [{ order, customerEmail: note.email, digits: Number(note.digits), sign: note.sign }] : [];
  });
}

/**
 * All orders that fit, page by page, so that any number of them takes the memory of one page. Each page is a snapshot of
 * its own.
 * @param limit at most so many orders; all without it.
 * @returns at its end, whether there are more than `limit`.
 * @throws AppError those of `listOrders`.
 */
export async function* readOrderPages(
  ctx: Ctx,
  filter: OrderFilter,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<OrderView[], boolean> {
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

/** The newest orders that fit, at most `limit`, and whether there are more. */
export async function listOrderViews(
  ctx: Ctx,
  filter: OrderFilter,
  limit: number,
): Promise<{ views: OrderView[]; hasMore: boolean }> {
  const pages = readOrderPages(ctx, filter, limit);
  const views: OrderView[] = [];
  for (;;) {
    const { value, done } = await pages.next();
    if (done) return { views, hasMore: value };
    views.push(...value);
  }
}
