import { formatMinor } from "../../values/money.ts";
import type { OrderDocument, OrderView } from "./views.ts";

type Line = OrderDocument["items"][number];
export type Cell = (view: OrderView, line: Line) => string | number | null | undefined;

const ofOrder = (name: keyof OrderDocument): Cell => {
  return ({ order }) => order[name] as string | number | null;
};
const ofLine = (name: keyof Line): Cell => {
  return (_, line) => line[name] as string | number | null;
};
const orderAmount = (name: "subtotal" | "discount" | "shipping" | "tax" | "total" | "refunded"): Cell => {
  return ({ order, digits }) => formatMinor(order[`${name}_minor`], digits);
};
const lineAmount = (name: "price" | "subtotal" | "discount" | "tax" | "total" | "refunded"): Cell => {
  return ({ digits }, line) => formatMinor(line[`${name}_minor`], digits);
};
const ofAddress = (name: keyof NonNullable<OrderDocument["shipping_address"]>): Cell => {
  return ({ order }) => order.shipping_address?.[name];
};

/** The columns of an order export. Columns of the line begin with `line_`; those of the order repeat on each row. */
export const orderColumns: Readonly<Record<string, Cell>> = {
  order_id: ofOrder("id"),
  number: ofOrder("number"),
  created_at: ofOrder("created_at"),
  updated_at: ofOrder("updated_at"),
  status: ofOrder("status"),
  payment_status: ofOrder("payment_status"),
  fulfillment_status: ofOrder("fulfillment_status"),
  customer_id: ofOrder("user_id"),
  customer_email: ({ customerEmail }) => customerEmail,
  currency: ofOrder("currency"),
  subtotal: orderAmount("subtotal"),
  discount: orderAmount("discount"),
  shipping: orderAmount("shipping"),
  tax: orderAmount("tax"),
  total: orderAmount("total"),
  refunded: orderAmount("refunded"),
  points_used: ofOrder("points_used"),
  points_earned: ofOrder("points_earned"),
  points_returned: ofOrder("points_returned"),
  points_reversed: ofOrder("points_reversed"),
  payment_reference: ofOrder("payment_reference"),
  expires_at: ofOrder("expires_at"),
  paid_at: ofOrder("paid_at"),
  fulfilled_at: ofOrder("fulfilled_at"),
  cancelled_at: ofOrder("cancelled_at"),
  ship_name: ofAddress("name"),
  ship_line1: ofAddress("line1"),
  ship_line2: ofAddress("line2"),
  ship_city: ofAddress("city"),
  ship_region: ofAddress("region"),
  ship_postal_code: ofAddress("postal_code"),
  ship_country: ofAddress("country"),
  ship_phone: ofAddress("phone"),
  note: ofOrder("note"),
  lang: ofOrder("lang"),
  line_id: ofLine("id"),
  line_product_id: ofLine("product_id"),
  line_variant_id: ofLine("variant_id"),
  line_title: ofLine("title"),
  line_variant_title: ofLine("variant_title"),
  line_sku: ofLine("sku"),
  line_options: (_, { options }) => (Object.keys(options).length === 0 ? "" : JSON.stringify(options)),
  line_price: lineAmount("price"),
  line_quantity: ofLine("quantity"),
  line_subtotal: lineAmount("subtotal"),
  line_discount: lineAmount("discount"),
  line_tax: lineAmount("tax"),
  line_total: lineAmount("total"),
  line_refunded_quantity: ofLine("refunded_quantity"),
  line_refunded: lineAmount("refunded"),
  line_restocked_quantity: ofLine("restocked_quantity"),
};
