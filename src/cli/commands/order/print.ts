import type { OrderView } from "../../../server/modules/orders/views.ts";
import { formatMinor } from "../../../server/values/money.ts";
import type { Console } from "../../terminal/console.ts";
import { printJson, printList, printRecord } from "../../terminal/output.ts";

export function toOrderRecord({ order, customerEmail }: OrderView) {
  const { id, ...rest } = order;
  return { order_id: id, customer_email: customerEmail, ...rest };
}

export function formatAmount(minor: number, { order, digits }: OrderView): string {
  return `${formatMinor(minor, digits)} ${order.currency}`;
}

export function formatCustomer({ order, customerEmail }: OrderView): string {
  return customerEmail ?? order.user_id ?? "guest";
}

export async function printOrder(console: Console, view: OrderView): Promise<void> {
  const record = toOrderRecord(view);
  if (console.json) return printJson(console, record);
  if (console.quiet) return printRecord(console, record);
  const { order } = view;
  const { items: _items, refunds: _refunds, shipping_address, ...rest } = record;
  const isHidden = (name: string) => `${name}_minor` in rest || (name === "expires_at" && order.status !== "pending");
  const fields = Object.entries(rest).filter(([name]) => !isHidden(name));
  const shown = fields.map(([name, value]) =>
    name.endsWith("_minor") ? [name.slice(0, -"_minor".length), formatAmount(Number(value), view)] : [name, value],
  );
  const address = shipping_address && addressParts.flatMap((part) => shipping_address[part] ?? []).join(", ");
  await printRecord(console, { ...Object.fromEntries(shown), shipping_address: address });
  await console.write("\n");
  const amount = (minor: number) => formatAmount(minor, view);
  await printList(console, order.items, {
    empty: "No lines.",
    columns: [
      { header: "LINE ID", value: (line) => line.id },
      { header: "TITLE", value: (line) => [line.title, line.variant_title].filter((text) => text !== null).join(", ") },
      "sku",
      { header: "PRICE", value: (line) => amount(line.price_minor) },
      "quantity",
      { header: "DISCOUNT", value: (line) => amount(line.discount_minor) },
      { header: "TAX", value: (line) => amount(line.tax_minor) },
      { header: "TOTAL", value: (line) => amount(line.total_minor) },
      { header: "REFUNDED", value: (line) => `${line.refunded_quantity}: ${amount(line.refunded_minor)}` },
      { header: "RESTOCKED", value: (line) => String(line.restocked_quantity) },
    ],
  });
  if (order.refunds.length === 0) return;
  await console.write("\n");
  await printList(console, order.refunds, {
    empty: "No refunds.",
    columns: [
      { header: "REFUND ID", value: (refund) => refund.id },
      { header: "AMOUNT", value: (refund) => amount(refund.amount_minor) },
      { header: "ITEMS", value: (refund) => String(refund.lines.reduce((sum, line) => sum + line.quantity, 0)) },
      "reason",
      { header: "RETURNED POINTS", value: (refund) => String(refund.points_returned) },
      { header: "REVERSED POINTS", value: (refund) => String(refund.points_reversed) },
      "created_at",
    ],
  });
}

const addressParts = ["name", "line1", "line2", "postal_code", "city", "region", "country", "phone"] as const;
