import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, param, type Statement, statement } from "../../db/statement.ts";
import { type AppError, notFound, wrongState } from "../../errors.ts";
import { moneyDivisor } from "../../values/money.ts";
import { isId } from "../../values/stamps.ts";
import { type Audience, forEachAudience, type Rendered } from "../catalogue/products/rendering.ts";
import { compileEvent } from "../events/service.ts";
import { isCustomer, isPage } from "./input.ts";
import { orders } from "./table.ts";
import { transferReferenceSql } from "./transfer-reference.ts";
import { withdrawalFields } from "./withdrawals/table.ts";

/** The actor is optional, because background jobs have none. */
export type OrderCtx = Pick<Ctx, "db" | "tenant" | "now" | "vault"> & Partial<Pick<Ctx, "actor">>;

/** Runs after every write of an order. Clears `buyer` unless the order is pending: limits count pending orders only. */
export const bumpOrder = statement(sql`
  update ${orders} set version = version + 1, updated_at = ${param("now")}, buyer = iif(status = 'pending', buyer, null)
  where ${byId(orders)}`);

// The divisor is selected once for all amounts, because a libSQL server parses the statement again for each order.
const divisor = `(select ${moneyDivisor("currency_digits")} as divisor)`;

/** Returns SQL for the fields of amounts in a JSON object, such as `'total', 19.99, 'total_minor', 1999`. */
function amounts(...names: string[]): string {
  return names.map((name) => amountOf(name, `${name}_minor`)).join(", ");
}

function amountOf(name: string, minor: string): string {
  return `'${name}', (${minor}) / divisor, '${name}_minor', ${minor}`;
}

/** SQL for the amount due; below zero if too much was received. */
export const dueMinor = "(total_minor - credited_minor - received_minor + refunded_minor)";

export const insertEvent = compileEvent({
  type: param("type"),
  subject: param("id"),
  data: sql.raw(`(select json_object('number', number, 'status', status,
    'payment_status', payment_status, 'fulfillment_status', fulfillment_status,
    'total', total_minor / divisor, 'currency', currency) from ${divisor})`),
  from: sql`${orders} where ${byId(orders)}`,
});

// The subquery sorts the records, because a libSQL server has no `order by` in an aggregate.
const list = (record: string, from: string) =>
  `(select json_group_array(json(record)) from (select json_object(${record}) as record from ${from}))`;
const items = list(
  `'id', id, 'product_id', product_id, 'variant_id', variant_id, 'title', title, 'variant_title', variant_title,
  'sku', sku, 'options', json(options), 'image', image, ${amounts("price")}, 'quantity', quantity,
  ${amounts("subtotal", "discount", "tax", "total")}, 'tax_class', tax_class,
  'requires_shipping', json(iif(requires_shipping, 'true', 'false')), 'weight_g', weight_g,
  'fulfilled_quantity', fulfilled_quantity, 'cancelled_quantity', cancelled_quantity,
  'refunded_quantity', refunded_quantity, ${amounts("refunded")}, 'restocked_quantity', restocked_quantity`,
  "order_lines where order_id = orders.id order by position",
);
const payments = list(
  `'id', id, 'provider', provider, 'reference', reference, ${amounts("amount")}, 'received_at', received_at`,
  "payments where order_id = orders.id order by id",
);
const refundsFor = (audience: Audience) =>
  list(
    `'id', id, 'state', state, ${amounts("amount", "shipping")}, 'lines', json(lines), 'reason', reason,
    'points_returned', points_returned, 'points_reversed', points_reversed, 'created_at', created_at
    ${audience === "staff" ? ", 'error', error" : ""}`,
    "order_refunds where order_id = orders.id order by id",
  );
const fulfillments = list(
  `'id', id, 'lines', json(lines), 'tracking', json(tracking), 'created_at', created_at`,
  "fulfillments where order_id = orders.id order by id",
);
const disputes = list(
  `'id', id, 'status', status, ${amounts("amount")}, 'reason', reason, 'due_at', due_at, 'created_at', created_at`,
  "disputes where order_id = orders.id order by id",
);
const withdrawals = list(withdrawalFields, "withdrawals where order_id = orders.id order by id");
const forStaff = `, 'disputes', ${disputes}, 'withdrawals', ${withdrawals}, 'staff_note', staff_note, 'needs_attention', (select json_group_array(kind) from (
  select kind from order_attention where order_id = orders.id and ended_at is null order by id))`;

/** SQL for an order as JSON. Customers and pages do not see disputes, withdrawals, staff notes and attention. */
export const orderJson = forEachAudience((audience) =>
  sql.raw(`(select json_object(
  'id', id, 'number', number, 'user_id', user_id, 'status', status, 'payment_status', payment_status,
  'fulfillment_status', fulfillment_status, 'currency', currency, 'items', ${items},
  ${amounts("subtotal", "discount", "shipping", "shipping_tax", "tax", "total")},
  ${amounts("received", "refunded")}, ${amountOf("returned", "refunded_minor")}, ${amountOf("due", `max(${dueMinor}, 0)`)},
  'prices_include_tax', json(iif(prices_include_tax, 'true', 'false')), 'tax_lines', json(tax_lines),
  'shipping_rate', json(shipping_rate), 'discount_code', discount_code,
  'points_used', points_used, 'points_earned', points_earned, 'points_returned', points_returned,
  'points_reversed', points_reversed, 'payment_method', payment_method,
  'transfer_reference', iif(payment_method = 'manual', ${transferReferenceSql}, null),
  'payment_reference', (select reference from payments where order_id = orders.id and reference is not null order by id limit 1),
  'email', email, 'phone', phone, 'shipping_address', json(shipping_address), 'billing_address', json(billing_address),
  'note', note, 'metadata', json(metadata), 'lang', lang, 'payments', ${payments}, 'refunds', ${refundsFor(audience)},
  'fulfillments', ${fulfillments}, 'version', version, 'created_at', created_at, 'updated_at', updated_at,
  'expires_at', expires_at, 'paid_at', paid_at, 'fulfilled_at', fulfilled_at, 'cancelled_at', cancelled_at${
    audience === "staff" ? forStaff : ""
  }) from ${divisor})`),
);

// The parameter `own` is the id of a customer, who sees only their own orders; null for staff and keys.
const isVisible = sql`${byId(orders)} and (${param("own")} is null or user_id = ${param("own")})`;
const selectOrder = forEachAudience((audience) => {
  const found = { json: sql<string>`${orderJson[audience]}`, version: orders.version };
  return statement((q) => q.select(found).from(orders).where(isVisible));
});

/** Returns the audience of an order's JSON: staff, also for background jobs, or the public. */
export function orderAudience(ctx: Partial<Pick<Ctx, "actor">>): Audience {
  const { actor } = ctx;
  return actor && (isCustomer({ actor }) || isPage({ actor })) ? "public" : "staff";
}

export function selectOrderFor(ctx: Partial<Pick<Ctx, "actor">>): Statement<Rendered> {
  return selectOrder[orderAudience(ctx)];
}

export function requireOrderId(id: string): void {
  if (!isId("ord", id)) throw notFound("order", id);
}

/** Returns an error such as `Order ord_… is cancelled. Only pending orders can be paid.` */
export function orderStateError(id: string, status: string, required: string): AppError {
  return wrongState(`Order ${id} is ${status}. Only ${required}.`);
}
