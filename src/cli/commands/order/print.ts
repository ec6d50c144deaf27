import type { OrderDocument as Order } from "../../../server/modules/orders/list.ts";
import { decimalsOf } from "../../../server/values/currency.ts";
import { formatMinor } from "../../../server/values/money.ts";
import { type Console, printList, printRecord } from "../../terminal/console.ts";

export function toOrderRecord({ id, ...rest }: Order) {
  return { order_id: id, ...rest };
}

export function formatAmount(minor: number, { currency }: Pick<Order, "currency">): string {
  return `${formatMinor(minor, decimalsOf(currency) ?? 2)} ${currency}`;
}

export function formatCustomer({ email, user_id }: Pick<Order, "email" | "user_id">): string {
  return email ?? user_id ?? "guest";
}

const addressParts = ["name", "company", "line1", "line2", "postal_code", "city", "region", "country"] as const;
const moreParts = ["phone", "vat_id"] as const;

function formatAddress(address: Order["shipping_address"]): string | null {
  return address && [...addressParts, ...moreParts].flatMap((part) => address[part] ?? []).join(", ");
}

/** Returns the fields of an order that people see, except its lists, which `toTables` returns. */
function toFields(order: Order): object {
  const { items: _i, tax_lines: _t, payments: _p, fulfillments: _f, refunds: _r, ...others } = toOrderRecord(order);
  const { shipping_rates: _s, disputes: _d, ...rest } = others;
  const isHidden = (name: string) => `${name}_minor` in rest || (name === "expires_at" && order.status !== "pending");
  const fields = Object.entries(rest).filter(([name]) => !isHidden(name));
  const shown = fields.map(([name, value]) =>
    name.endsWith("_minor") ? [name.slice(0, -"_minor".length), formatAmount(Number(value), order)] : [name, value],
  );
  return {
    ...Object.fromEntries(shown),
    shipping_rate: order.shipping_rate?.name ?? null,
    shipping_address: formatAddress(order.shipping_address),
    billing_address: formatAddress(order.billing_address),
  };
}

export async function printOrder(console: Console, order: Order): Promise<void> {
  if (console.json || console.quiet) return printRecord(console, toOrderRecord(order));
  await printRecord(console, toFields(order));
  for (const rows of toTables(order)) {
    if (rows.length === 0) continue;
    await console.write("\n");
    await printList<Row>(console, rows, { empty: "", columns: Object.keys(rows[0] ?? {}) });
  }
}

type Row = Record<string, unknown>;

/** Returns the lists of an order, each for a table. The fields of the rows are the columns of the table. */
function toTables(order: Order): Row[][] {
  const {
    items,
    tax_lines: taxLines,
    payments,
    fulfillments,
    refunds,
    disputes = [],
    shipping_rates: offers = [],
  } = order;
  const amount = (minor: number) => formatAmount(minor, order);
  const lines = new Map(items.map((line) => [line.id, line]));
  const name = (id: string) => lines.get(id)?.sku ?? lines.get(id)?.title ?? id;
  return [
    items.map((line) => ({
      line_id: line.id,
      title: [line.title, line.variant_title].filter((text) => text !== null).join(", "),
      ...{ sku: line.sku, price: amount(line.price_minor), quantity: line.quantity },
      ...{ discount: amount(line.discount_minor), tax: amount(line.tax_minor), total: amount(line.total_minor) },
      sent: line.fulfilled_quantity,
      refunded: `${line.refunded_quantity}: ${amount(line.refunded_minor)}`,
      restocked: line.restocked_quantity,
    })),
    taxLines.map((line) => ({
      ...{ tax_class: line.class, rate: `${line.rate} %` },
      ...{ base: amount(line.base_minor), tax: amount(line.tax_minor) },
    })),
    payments.map(({ id, amount_minor, provider, reference, received_at }) => {
      return { payment_id: id, amount: amount(amount_minor), provider, reference, received_at };
    }),
    fulfillments.map(({ id, lines: pieces, tracking, created_at }) => ({
      fulfillment_id: id,
      items: pieces.map((piece) => `${piece.quantity} × ${name(piece.line_id)}`).join(", "),
      ...{ carrier: tracking?.carrier, tracking: tracking?.number, tracking_url: tracking?.url, created_at },
    })),
    refunds.map((refund) => ({
      ...{ refund_id: refund.id, state: refund.state, amount: amount(refund.amount_minor) },
      items: refund.lines.reduce((sum, line) => sum + line.quantity, 0),
      ...{ reason: refund.reason, returned_points: refund.points_returned, reversed_points: refund.points_reversed },
      ...{ error: refund.error, created_at: refund.created_at },
    })),
    disputes.map(({ id, status, amount_minor, reason, due_at }) => {
      return { dispute_id: id, status, amount: amount(amount_minor), reason, answer_by: due_at };
    }),
    // Only a dry run without a chosen shipping rate returns `offers`.
    offers.map(({ id, name, zone, price_minor }) => ({ shipping_rate: name, price: amount(price_minor), zone, id })),
  ];
}
