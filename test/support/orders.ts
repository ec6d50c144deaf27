import type { CallOptions } from "./client.ts";
import type { Shop } from "./factories.ts";

/** A line of an order in a reply. */
export interface LineReply {
  id: string;
  product_id: string;
  variant_id: string | null;
  title: string;
  variant_title: string | null;
  sku: string | null;
  options: Record<string, string>;
  image: string | null;
  price_minor: number;
  quantity: number;
  subtotal_minor: number;
  discount_minor: number;
  tax_minor: number;
  total: number;
  total_minor: number;
  fulfilled_quantity: number;
  cancelled_quantity: number;
  refunded_quantity: number;
  refunded_minor: number;
  restocked_quantity: number;
}

/** The fields of an order in a reply that tests use. */
export interface OrderReply {
  id: string;
  number: number;
  user_id: string | null;
  status: string;
  payment_status: string;
  fulfillment_status: string;
  currency: string;
  items: LineReply[];
  subtotal: number;
  subtotal_minor: number;
  discount_minor: number;
  shipping_minor: number;
  shipping_tax_minor: number;
  tax_minor: number;
  tax_lines: { class: string; rate: number; base_minor: number; tax_minor: number }[];
  total: number;
  total_minor: number;
  received_minor: number;
  due_minor: number;
  shipping_rate: { id: string; name: string } | null;
  discount_code: string | null;
  needs_attention?: string[];
  disputes?: { id: string; status: string; due_at: string | null }[];
  withdrawals?: object[];
  staff_note?: string | null;
  email: string | null;
  payments: { id: string; reference: string | null; amount_minor: number }[];
  fulfillments: { id: string; lines: { line_id: string; quantity: number }[]; tracking: object | null }[];
  refunded: number;
  refunded_minor: number;
  points_used: number;
  points_earned: number;
  points_returned: number;
  points_reversed: number;
  payment_reference: string | null;
  shipping_address: Record<string, string> | null;
  note: string | null;
  lang: string;
  refunds: {
    state?: string;
    id: string;
    amount_minor: number;
    lines: { line_id: string; quantity: number; amount_minor: number; restock: boolean }[];
    reason: string | null;
    points_returned: number;
    points_reversed: number;
  }[];
  version: number;
  created_at: string;
  updated_at: string;
  expires_at: string;
  paid_at: string | null;
  fulfilled_at: string | null;
  cancelled_at: string | null;
}

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

/** Acts on an order with the shop's key. Fails unless it succeeds. */
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

/** Returns the stock of a product or variant, and how much of it unpaid orders reserve. */
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
