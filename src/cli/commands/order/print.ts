import type { OrderDocument, OrderView } from "../../../server/modules/orders/views.ts";
import { formatMinor } from "../../../server/values/money.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue, printJson, printList, printRecord } from "../../terminal/output.ts";

/** An order in JSON: the API's record with the id and the customer's email. */
export type OrderRecord = { order_id: string; customer_email: string | null } & Omit<OrderDocument, "id">;

export function toOrderRecord({ order, customerEmail }: OrderView): OrderRecord {
  const { id, ...rest } = order;
  return { order_id: id, customer_email: customerEmail, ...rest };
}

/** An amount in the order's currency: `19.90 EUR`. */
export function formatAmount(minor: number, { order, digits }: OrderView): string {
  return `${formatMinor(minor, digits)} ${order.currency}`;
}

/** The customer's email, the id of a deleted user, or `guest`. */
export function formatCustomer({ order, customerEmail }: OrderView): string {
  return customerEmail ?? order.user_id ?? "guest";
}

/** Prints an order as JSON, as its id, or as its fields with tables of its lines and refunds. */
export async function printOrder(console: Console, view: OrderView): Promise<void> {
  const record = toOrderRecord(view);
  if (console.json) return printJson(console, record);
  if (console.quiet) return printRecord(console, record, "order_id");
  const { order } = view;
  const amount = (minor: number) => formatAmount(minor, view);
  await printRecord(
    console,
    {
      order_id: order.id,
      number: order.number,
      status: order.status,
      payment_status: order.payment_status,
      fulfillment_status: order.fulfillment_status,
      customer: formatCustomer(view),
      user_id: order.user_id,
      currency: order.currency,
      subtotal: amount(order.subtotal_minor),
      discount: amount(order.discount_minor),
      shipping: amount(order.shipping_minor),
      tax: amount(order.tax_minor),
      total: amount(order.total_minor),
      refunded: amount(order.refunded_minor),
      points_used: order.points_used,
      points_earned: order.points_earned,
      points_returned: order.points_returned,
      points_reversed: order.points_reversed,
      payment_reference: order.payment_reference,
      shipping_address: formatAddress(order.shipping_address),
      note: order.note,
      lang: order.lang,
      version: order.version,
      created_at: order.created_at,
      updated_at: order.updated_at,
      expires_at: order.expires_at,
      paid_at: order.paid_at,
      fulfilled_at: order.fulfilled_at,
      cancelled_at: order.cancelled_at,
    },
    "order_id",
  );
  await console.write("\n");
  await printLines(console, view);
  if (order.refunds.length === 0) return;
  await console.write("\n");
  await printRefunds(console, view);
}

function printLines(console: Console, view: OrderView): Promise<void> {
  return printList(console, view.order.items, {
    id: (line) => line.id,
    empty: "No lines.",
    columns: [
      { header: "LINE ID", value: (line) => line.id, whole: true },
      { header: "TITLE", value: (line) => [line.title, line.variant_title].filter((text) => text !== null).join(", ") },
      { header: "SKU", value: (line) => formatValue(line.sku) },
      { header: "PRICE", value: (line) => formatAmount(line.price_minor, view) },
      { header: "QUANTITY", value: (line) => String(line.quantity) },
      { header: "DISCOUNT", value: (line) => formatAmount(line.discount_minor, view) },
      { header: "TAX", value: (line) => formatAmount(line.tax_minor, view) },
      { header: "TOTAL", value: (line) => formatAmount(line.total_minor, view) },
      { header: "REFUNDED", value: (line) => `${line.refunded_quantity}: ${formatAmount(line.refunded_minor, view)}` },
      { header: "RESTOCKED", value: (line) => String(line.restocked_quantity) },
    ],
  });
}

function printRefunds(console: Console, view: OrderView): Promise<void> {
  return printList(console, view.order.refunds, {
    id: (refund) => refund.id,
    empty: "No refunds.",
    columns: [
      { header: "REFUND ID", value: (refund) => refund.id, whole: true },
      { header: "AMOUNT", value: (refund) => formatAmount(refund.amount_minor, view) },
      { header: "ITEMS", value: (refund) => String(refund.lines.reduce((sum, line) => sum + line.quantity, 0)) },
      { header: "REASON", value: (refund) => formatValue(refund.reason) },
      { header: "POINTS RETURNED", value: (refund) => String(refund.points_returned) },
      { header: "POINTS REVERSED", value: (refund) => String(refund.points_reversed) },
      { header: "CREATED", value: (refund) => refund.created_at },
    ],
  });
}

const addressParts = ["name", "line1", "line2", "postal_code", "city", "region", "country", "phone"] as const;

function formatAddress(address: OrderView["order"]["shipping_address"]): string | null {
  return address && addressParts.flatMap((part) => address[part] ?? []).join(", ");
}
