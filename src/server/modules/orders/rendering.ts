import { sql } from "drizzle-orm";
import { moneyJson } from "../../values/money.ts";

/** `'total', 19.99, 'total_minor', 1999` of each of the amounts. */
function amounts(...names: string[]): string {
  return names
    .map((name) => `'${name}', ${moneyJson(`${name}_minor`, "currency_digits")}, '${name}_minor', ${name}_minor`)
    .join(", ");
}

// Ordered by a subquery, since the libSQL server takes no `order by` within an aggregate.
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

/** SQL for an order with its lines and refunds as JSON text, in the order of the API; stands in a select from `orders`. */
export const orderJson = sql.raw(`json_object(
  'id', id, 'number', number, 'user_id', user_id, 'status', status, 'payment_status', payment_status,
  'fulfillment_status', fulfillment_status, 'currency', currency, 'items', ${items},
  ${amounts("subtotal", "discount", "shipping", "tax", "total", "refunded")},
  'points_used', points_used, 'points_earned', points_earned, 'points_returned', points_returned,
  'points_reversed', points_reversed, 'payment_reference', payment_reference,
  'shipping_address', json(shipping_address), 'note', note, 'lang', lang, 'refunds', ${refunds},
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'expires_at', expires_at,
  'paid_at', paid_at, 'fulfilled_at', fulfilled_at, 'cancelled_at', cancelled_at)`);

/** One order as it is answered. */
export interface RenderedOrder {
  json: string;
  version: number;
}

/** SQL for what events tell of an order; stands in a select from `orders`. */
export const orderEventJson = sql.raw(`json_object('number', number, 'status', status,
  'payment_status', payment_status, 'fulfillment_status', fulfillment_status,
  'total', ${moneyJson("total_minor", "currency_digits")}, 'currency', currency)`);
