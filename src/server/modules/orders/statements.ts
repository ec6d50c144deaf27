import { and, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { byId, param, statement } from "../../db/statement.ts";
import { type AppError, notFound, wrongState } from "../../errors.ts";
import { isId } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { compileEvent } from "../events/service.ts";
import { orders } from "./table.ts";

export type OrderCtx = Pick<Ctx, "db" | "tenant" | "now">;

/** SQL condition: with `own`, only orders of that customer. */
export const visible: SQL = sql`(${param("own")} is null or user_id = ${param("own")})`;
/** The columns of every write, after which an order is no longer pending. */
export const bumpVersion = { version: sql`version + 1`, updatedAt: param("now"), buyer: null };

// The form of all amounts is computed once, because a libSQL server parses the statement for each order, and a short
// one is faster.
const amountForm = `(select currency_digits as digits, iif(currency_digits = 0, '%d', '%d.%0*d') as form,
  cast('1' || substr('0000', 1, currency_digits) as integer) as scale)`;

function amount(name: string): string {
  return `json(printf(form, ${name}_minor / scale, digits, ${name}_minor % scale))`;
}

/** `'total', 19.99, 'total_minor', 1999` for each amount. */
function amounts(...names: string[]): string {
  return names.map((name) => `'${name}', ${amount(name)}, '${name}_minor', ${name}_minor`).join(", ");
}

export const insertEvent = compileEvent({
  type: sql`${param("type")}`,
  subject: sql`id`,
  data: sql.raw(`(select json_object('number', number, 'status', status,
    'payment_status', payment_status, 'fulfillment_status', fulfillment_status,
    'total', ${amount("total")}, 'currency', currency) from ${amountForm})`),
  from: sql`${orders} where ${byId(orders)}`,
});

// Ordered by a subquery, because a libSQL server has no `order by` in an aggregate.
const items = `(select json_group_array(json(line)) from (select json_object(
  'id', id, 'product_id', product_id, 'variant_id', variant_id, 'title', title, 'variant_title', variant_title,
  'sku', sku, 'options', json(options), 'image', image, ${amounts("price")}, 'quantity', quantity,
  ${amounts("subtotal", "discount", "tax", "total")}, 'refunded_quantity', refunded_quantity, ${amounts("refunded")},
  'restocked_quantity', restocked_quantity) as line
  from order_lines where order_id = orders.id order by position))`;
const refunds = `(select json_group_array(json(refund)) from (select json_object(
  'id', id, ${amounts("amount")}, 'lines', json(lines), 'reason', reason,
  'points_returned', points_returned, 'points_reversed', points_reversed, 'created_at', created_at) as refund
  from order_refunds where order_id = orders.id order by id))`;

export const orderJson = sql.raw(`(select json_object(
  'id', id, 'number', number, 'user_id', user_id, 'status', status, 'payment_status', payment_status,
  'fulfillment_status', fulfillment_status, 'currency', currency, 'items', ${items},
  ${amounts("subtotal", "discount", "shipping", "tax", "total", "refunded")},
  'points_used', points_used, 'points_earned', points_earned, 'points_returned', points_returned,
  'points_reversed', points_reversed, 'payment_reference', payment_reference,
  'shipping_address', json(shipping_address), 'note', note, 'lang', lang, 'refunds', ${refunds},
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'expires_at', expires_at,
  'paid_at', paid_at, 'fulfilled_at', fulfilled_at, 'cancelled_at', cancelled_at) from ${amountForm})`);

export const selectOrder = statement<Rendered>(sql`
  select ${orderJson} as json, version from ${orders} where ${byId(orders)} and ${visible}`);

export const selectState = statement((q) =>
  q
    .select(pick(orders, "status", "paymentStatus", "paymentReference", "version"))
    .from(orders)
    .where(and(byId(orders), visible)),
);

export function requireOrderId(id: string): void {
  if (!isId("ord", id)) throw notFound("order", id);
}

/** `Order ord_… is cancelled. Only pending orders can be paid.` */
export function orderStateError(id: string, status: string, required: string): AppError {
  return wrongState(`Order ${id} is ${status}. Only ${required}.`);
}
