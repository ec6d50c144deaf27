import type { OrderDocument } from "../../src/server/modules/orders/list.ts";
import type { CallOptions } from "./client.ts";
import type { Shop } from "./factories.ts";

/** An order in a reply. */
export type OrderReply = OrderDocument & { number: number };

/** Settings of a store in which customers may have any number of unpaid orders. */
export const unlimitedOrders = { pendingOrders: 0, stockShare: 100, ordersPerMinute: 0 };

/** Creates an order with the shop's key. By default, it is a guest's order. */
export async function makeOrder(
  { call }: Shop,
  items: readonly { product_id?: string; variant_id?: string; quantity?: number }[],
  fields: Record<string, unknown> = {},
): Promise<OrderReply> {
  const body = { items: items.map((item) => ({ quantity: 1, ...item })), ...fields };
  const { status, data, text } = await call<OrderReply & { access_token?: string }>("POST /orders/", { body });
  if (status !== 201) throw new Error(`The order was not made: ${text}`);
  const { access_token: _token, ...order } = data;
  return order;
}

/** Acts on an order with the shop's key. Throws if the call fails. */
export async function actOn(
  { call }: Shop,
  order: { id: string },
  act: "cancel" | "pay" | "fulfill" | "refund",
  send: CallOptions = {},
): Promise<OrderReply> {
  const { status, data, text } = await call<OrderReply>(`POST /orders/${order.id}/${act}/`, send);
  if (status !== 200) throw new Error(`It was not done: ${text}`);
  return data;
}

/** Returns the stock of a product or variant, and the part of it that unpaid orders reserve. */
export async function stockOf({ app }: Shop, id: string): Promise<{ stock: number | null; reserved: number }> {
  const table = id.startsWith("var_") ? "product_variants" : "products";
  const sql = `select stock, reserved from ${table} where id = ?`;
  const row = (await app.db.execute({ sql, args: [id] })).rows[0];
  return { stock: row?.stock as number | null, reserved: row?.reserved as number };
}

/** Counts all rows about a shop's orders, to check that nothing was written. */
export async function countOrderRows({ app, tenant }: Shop): Promise<number[]> {
  const counts = ["orders", "order_lines", "order_refunds", "events", "reward_entries"].map(
    (table) => `select count(*) as n from ${table} where tenant_id = (select id from tenants where namespace = ?)`,
  );
  const found: number[] = [];
  for (const sql of counts) {
    const { rows } = await app.db.execute({ sql, args: [tenant.namespace] });
    found.push(Number(rows[0]?.n));
  }
  return found;
}

/** Returns a shop's events of one type, oldest first. */
export async function readEvents({ app, namespace }: Shop, type: string): Promise<Record<string, unknown>[]> {
  const sql = `select data from events where type = ?
    and tenant_id = (select id from tenants where namespace = ?) order by sequence`;
  const { rows } = await app.db.execute({ sql, args: [type, namespace] });
  return rows.map((row) => JSON.parse(String(row.data)) as Record<string, unknown>);
}
