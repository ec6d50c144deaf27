import { address } from "../address.js";
import { badge, h, joined } from "../dom.js";
import { row } from "../list.js";
import { countryName, formatDay, formatMoney, t } from "../words.js";

const tones = { pending: "is-waiting", paid: "is-open", completed: "is-done" };

/** Returns the badges of an order: what needs attention, its status, and an unusual payment or partial shipment. */
export function badges({ status, payment_status: payment, fulfillment_status: fulfillment, needs_attention: needs }) {
  const isOdd = !["unpaid", "paid"].includes(payment);
  return [
    (needs ?? []).map((kind) => badge(`attention.${kind}`, "is-alert")),
    badge(`status.${status}`, tones[status]),
    isOdd && badge(`payment.${payment}`),
    fulfillment === "partially_fulfilled" && badge("fulfillment.partially_fulfilled"),
  ];
}

export const buyerOf = ({ shipping_address: to, billing_address: bill, email }) =>
  to?.name ?? bill?.name ?? email ?? t("order.nobody");

export function orderRow(order) {
  const { id, number, created_at: at, total, currency } = order;
  const below = joined(buyerOf(order), formatDay(at));
  return row(address("orders", id), t("order.number", { number }), below, formatMoney(total, currency), badges(order));
}

export const mailLink = (email) => email && h("a", { href: `mailto:${encodeURIComponent(email)}` }, email);

/** Returns how many pieces of a line can still be sent. */
export const unsent = ({ quantity, fulfilled_quantity: sent, cancelled_quantity: cancelled }) =>
  quantity - sent - cancelled;

/** Returns how many pieces of a line were sent and not refunded. */
export const sent = ({ fulfilled_quantity: all, refunded_quantity: refunded, cancelled_quantity: cancelled }) =>
  all - (refunded - cancelled);

export const lineName = ({ title, variant_title: variant }) => [title, variant].filter(Boolean).join(", ");

export function addressLines({ name, company, line1, line2, postal_code: code, city, region, country, phone, vat_id }) {
  const place = [code, city].filter(Boolean).join(" ");
  const vat = vat_id && t("buyer.vatId", { id: vat_id });
  const lines = [name, company, line1, line2, place, region, countryName(country), phone, vat];
  return lines.filter(Boolean).map((text) => h("span.line", text));
}
