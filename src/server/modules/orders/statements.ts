import type { TObject } from "@sinclair/typebox";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { byId, param, statement } from "../../db/statement.ts";
import { type AppError, notFound, wrongState } from "../../errors.ts";
import { isId } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { compileEvent } from "../events/service.ts";
import { Order, OrderLine, OrderRefund } from "./model.ts";
import { orders } from "./table.ts";

export type OrderCtx = Pick<Ctx, "db" | "tenant" | "now">;

/** SQL condition: with `own`, only orders of that customer. */
export const visible: SQL = sql`(${param("own")} is null or user_id = ${param("own")})`;
/** Columns that every write of an order sets. The order is no longer pending afterwards. */
export const bumpVersion = { version: sql`version + 1`, updatedAt: param("now"), buyer: null };

// Computes the format of amounts once for all of them, which keeps the statement short. A libSQL server parses it for
// each order.
const amountForm = `(select currency_digits as digits, iif(currency_digits = 0, '%d', '%d.%0*d') as form,
  cast('1' || substr('0000', 1, currency_digits) as integer) as scale)`;

function amount(name: string): string {
  return `json(printf(form, ${name}_minor / scale, digits, ${name}_minor % scale))`;
}

/** The arguments of a `json_object` with the fields of a schema. Without a `special` value, a field is a column. */
function fieldsOf({ properties }: TObject, special: Record<string, string>): string {
  const fields = Object.keys(properties).map((name) => {
    const column = `${name}_minor` in properties ? amount(name) : name;
    return `'${name}', ${special[name] ?? column}`;
  });
  return fields.join(", ");
}

export const insertEvent = compileEvent({
  type: sql`${param("type")}`,
  subject: sql`id`,
  data: sql.raw(`(select json_object('number', number, 'status', status,
    'payment_status', payment_status, 'fulfillment_status', fulfillment_status,
    'total', ${amount("total")}, 'currency', currency) from ${amountForm})`),
  from: sql`${orders} where ${byId(orders)}`,
});

// A subquery orders the lines, because a libSQL server has no `order by` in an aggregate.
const items = `(select json_group_array(json(line)) from (
  select json_object(${fieldsOf(OrderLine, { options: "json(options)" })}) as line
  from order_lines where order_id = orders.id order by position))`;
const refunds = `(select json_group_array(json(refund)) from (
  select json_object(${fieldsOf(OrderRefund, { lines: "json(lines)" })}) as refund
  from order_refunds where order_id = orders.id order by id))`;
const special = { items, refunds, shipping_address: "json(shipping_address)" };
export const orderJson = sql.raw(`(select json_object(${fieldsOf(Order, special)}) from ${amountForm})`);

const isShown = sql`${byId(orders)} and ${visible}`;
export const selectOrder = statement<Rendered>(
  sql`select ${orderJson} as json, version from ${orders} where ${isShown}`,
);

const state = pick(orders, "status", "paymentStatus", "paymentReference", "version");
export const selectState = statement((q) => q.select(state).from(orders).where(isShown));

export function requireOrderId(id: string): void {
  if (!isId("ord", id)) throw notFound("order", id);
}

/** `Order ord_… is cancelled. Only pending orders can be paid.` */
export function orderStateError(id: string, status: string, required: string): AppError {
  return wrongState(`Order ${id} is ${status}. Only ${required}.`);
}
