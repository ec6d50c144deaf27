import { decimalsOf } from "../../../values/currency.ts";
import { formatMinor } from "../../../values/money.ts";
import type { OrderDocument } from "../list.ts";

type Line = OrderDocument["items"][number];
type Column = [name: string, cell: (order: OrderDocument, line: Line) => unknown];
type Amount<Of> = Extract<keyof Of, `${string}_minor`> extends `${infer Name}_minor` ? Name : never;

const show = (minor: number, { currency }: OrderDocument) => formatMinor(minor, decimalsOf(currency) ?? 2);
const ofOrder = (...names: (keyof OrderDocument)[]) => names.map((name): Column => [name, (order) => order[name]]);
const orderAmounts = (...names: Amount<OrderDocument>[]) =>
  names.map((name): Column => [name, (order) => show(order[`${name}_minor`], order)]);
const addressParts = [
  "name",
  "company",
  "line1",
  "line2",
  "city",
  "region",
  "postal_code",
  "country",
  "phone",
  "vat_id",
] as const;
const ofAddress = (prefix: string, field: "shipping_address" | "billing_address") =>
  addressParts.map((name): Column => [`${prefix}_${name}`, (order) => order[field]?.[name]]);
const ofLine = (...names: (keyof Line)[]) => names.map((name): Column => [`line_${name}`, (_, line) => line[name]]);
const lineAmounts = (...names: Amount<Line>[]) =>
  names.map((name): Column => [`line_${name}`, (order, line) => show(line[`${name}_minor`], order)]);

/** The columns of a CSV file with a row for each order line. Values of the order are repeated in all its rows. */
export const orderColumns: readonly Column[] = [
  ["order_id", ({ id }) => id],
  ...ofOrder("number", "created_at", "updated_at", "status", "payment_status", "fulfillment_status"),
  ["customer_id", ({ user_id }) => user_id],
  ...ofOrder("email", "phone", "currency", "prices_include_tax", "discount_code"),
  ...orderAmounts("subtotal", "discount", "shipping", "shipping_tax", "tax", "total", "received", "refunded", "due"),
  ...ofOrder("points_used", "points_earned", "points_returned", "points_reversed", "payment_method"),
  ...ofOrder("transfer_reference", "payment_reference"),
  ...ofOrder("expires_at", "paid_at", "fulfilled_at", "cancelled_at"),
  ...ofAddress("ship", "shipping_address"),
  ...ofAddress("bill", "billing_address"),
  ...ofOrder("note", "lang"),
  ...ofLine("id", "product_id", "variant_id", "title", "variant_title", "sku"),
  ["line_options", (_, { options }) => (Object.keys(options).length === 0 ? "" : JSON.stringify(options))],
  ...lineAmounts("price"),
  ...ofLine("quantity", "tax_class"),
  ...lineAmounts("subtotal", "discount", "tax", "total"),
  ...ofLine("refunded_quantity"),
  ...lineAmounts("refunded"),
  ...ofLine("restocked_quantity"),
];
