import { address } from "../address.js";
import { badge } from "../dom.js";
import { row } from "../list.js";
import { formatDate, formatMoney, t } from "../words.js";

const tones = {
  pending: "is-waiting",
  paid: "is-open",
  completed: "is-done",
  cancelled: "is-quiet",
  expired: "is-quiet",
};

/** Returns the badges of an order: what needs attention, its status, and an unusual payment or partial shipment. */
export function badges({ status, payment_status: payment, fulfillment_status: fulfillment, needs_attention: needs }) {
  const isOdd = !["unpaid", "paid"].includes(payment);
  return [
    ...(needs ?? []).map((kind) => badge(`attention.${kind}`, "is-alert")),
    badge(`status.${status}`, tones[status]),
    isOdd && badge(`payment.${payment}`, "is-quiet"),
    fulfillment === "partially_fulfilled" && badge("fulfillment.partially_fulfilled", "is-quiet"),
  ].filter(Boolean);
}

export const buyerOf = ({ shipping_address: to, billing_address: bill, email }) =>
  to?.name ?? bill?.name ?? email ?? t("order.nobody");

export function orderRow(order) {
  const { id, number, created_at: at, total, currency } = order;
  const below = `${buyerOf(order)} · ${formatDate(at, { dateStyle: "medium" })}`;
  return row(address("orders", id), t("order.number", { number }), below, formatMoney(total, currency), badges(order));
}

/** Unsent pieces of a line, which can be sent. */
export const unsent = ({ quantity, fulfilled_quantity: sent, cancelled_quantity: cancelled }) =>
  quantity - sent - cancelled;

/** Sent pieces of a line that were not refunded. */
export const sent = ({ fulfilled_quantity: all, refunded_quantity: refunded, cancelled_quantity: cancelled }) =>
  all - (refunded - cancelled);

export const lineName = ({ title, variant_title: variant }) => [title, variant].filter(Boolean).join(", ");
