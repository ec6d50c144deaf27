import type { OrderView } from "../../../server/modules/orders/views.ts";
import { formatMinor } from "../../../server/values/money.ts";
import { type Console, printJson, printList, printRecord } from "../../terminal/console.ts";

type Order = OrderView["order"];

export function toOrderRecord({ order, customerEmail }: Pick<OrderView, "order" | "customerEmail">) {
  const { id, ...rest } = order;
  return { order_id: id, customer_email: customerEmail, ...rest };
}

export function formatAmount(minor: number, { order, digits }: Pick<OrderView, "order" | "digits">): string {
  return `${formatMinor(minor, digits)} ${order.currency}`;
}

export function formatCustomer({ order, customerEmail }: OrderView): string {
  return customerEmail ?? order.email ?? order.user_id ?? "guest";
}

const addressParts = ["name", "company", "line1", "line2", "postal_code", "city", "region", "country"] as const;
const moreParts = ["phone", "vat_id"] as const;

function formatAddress(address: Order["shipping_address"]): string | null {
  return address && [...addressParts, ...moreParts].flatMap((part) => address[part] ?? []).join(", ");
}

/** The fields of an order for people; its lists are tables below them. */
function toFields(view: OrderView): object {
  const { order } = view;
  const { items: _i, tax_lines: _t, payments: _p, fulfillments: _f, refunds: _r, ...others } = toOrderRecord(view);
  const { shipping_rates: _s, ...rest } = others;
  const isHidden = (name: string) => `${name}_minor` in rest || (name === "expires_at" && order.status !== "pending");
  const fields = Object.entries(rest).filter(([name]) => !isHidden(name));
  const shown = fields.map(([name, value]) =>
    name.endsWith("_minor") ? [name.slice(0, -"_minor".length), formatAmount(Number(value), view)] : [name, value],
  );
  return {
    ...Object.fromEntries(shown),
    shipping_rate: order.shipping_rate?.name ?? null,
    shipping_address: formatAddress(order.shipping_address),
    billing_address: formatAddress(order.billing_address),
  };
}

export async function printOrder(console: Console, view: OrderView): Promise<void> {
  if (console.json) return printJson(console, toOrderRecord(view));
  if (console.quiet) return printRecord(console, toOrderRecord(view));
  await printRecord(console, toFields(view));
  await console.write("\n");
  await printLines(console, view);
  await printTaxLines(console, view);
  await printPayments(console, view);
  await printParcels(console, view);
  await printRefunds(console, view);
  await printOffers(console, view);
}

async function printLines(console: Console, view: OrderView): Promise<void> {
  const amount = (minor: number) => formatAmount(minor, view);
  await printList(console, view.order.items, {
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
      { header: "SENT", value: (line) => String(line.fulfilled_quantity) },
      { header: "REFUNDED", value: (line) => `${line.refunded_quantity}: ${amount(line.refunded_minor)}` },
      { header: "RESTOCKED", value: (line) => String(line.restocked_quantity) },
    ],
  });
}

/** Prints a table below the others, unless it is empty. */
async function printPart<Row>(
  console: Console,
  rows: readonly Row[],
  columns: Parameters<typeof printList<Row>>[2]["columns"],
): Promise<void> {
  if (rows.length === 0) return;
  await console.write("\n");
  await printList(console, rows, { empty: "", columns });
}

function printTaxLines(console: Console, view: OrderView): Promise<void> {
  return printPart(console, view.order.tax_lines, [
    { header: "TAX CLASS", value: (line) => line.class },
    { header: "RATE", value: (line) => `${line.rate} %` },
    { header: "BASE", value: (line) => formatAmount(line.base_minor, view) },
    { header: "TAX", value: (line) => formatAmount(line.tax_minor, view) },
  ]);
}

function printPayments(console: Console, view: OrderView): Promise<void> {
  return printPart(console, view.order.payments, [
    { header: "PAYMENT ID", value: (payment) => payment.id },
    { header: "AMOUNT", value: (payment) => formatAmount(payment.amount_minor, view) },
    ...(["provider", "reference", "received_at"] as const),
  ]);
}

function printParcels(console: Console, { order }: OrderView): Promise<void> {
  const lines = new Map(order.items.map((line) => [line.id, line]));
  const name = (id: string) => lines.get(id)?.sku ?? lines.get(id)?.title ?? id;
  return printPart(console, order.fulfillments, [
    { header: "FULFILLMENT ID", value: (parcel) => parcel.id },
    {
      header: "ITEMS",
      value: (parcel) => parcel.lines.map((line) => `${line.quantity} × ${name(line.line_id)}`).join(", "),
    },
    { header: "CARRIER", value: ({ tracking }) => tracking?.carrier ?? "-" },
    { header: "TRACKING", value: ({ tracking }) => tracking?.number ?? "-" },
    { header: "TRACKING URL", value: ({ tracking }) => tracking?.url ?? "-" },
    "created_at",
  ]);
}

function printRefunds(console: Console, view: OrderView): Promise<void> {
  return printPart(console, view.order.refunds, [
    { header: "REFUND ID", value: (refund) => refund.id },
    { header: "AMOUNT", value: (refund) => formatAmount(refund.amount_minor, view) },
    { header: "ITEMS", value: (refund) => String(refund.lines.reduce((sum, line) => sum + line.quantity, 0)) },
    "reason",
    { header: "RETURNED POINTS", value: (refund) => String(refund.points_returned) },
    { header: "REVERSED POINTS", value: (refund) => String(refund.points_reversed) },
    "created_at",
  ]);
}

/** The shipping rates of which a dry run chose none. */
function printOffers(console: Console, view: OrderView): Promise<void> {
  return printPart(console, view.order.shipping_rates ?? [], [
    { header: "SHIPPING RATE", value: (offer) => offer.name },
    { header: "PRICE", value: (offer) => formatAmount(offer.price_minor, view) },
    "zone",
    { header: "ID", value: (offer) => offer.id },
  ]);
}
