import { address } from "../address.js";
import { fact, facts, h, joined, link, page, save, section, toast } from "../dom.js";
import { actionButton } from "../errors.js";
import { line, none } from "../list.js";
import { replace } from "../replace.js";
import { shop } from "../store.js";
import { formatDate, formatDay, formatMoney, t } from "../words.js";
import { drawAttention, drawNote, drawPay } from "./forms.js";
import { addressLines, badges, lineName, mailLink, unsent } from "./names.js";
import { drawParcels, drawShipping } from "./parcels.js";
import { drawRefund, drawRefunds } from "./refund.js";
import { drawSlip } from "./slip.js";
import { drawWithdrawals } from "./withdrawals.js";

export async function show({ id, part, query, signal }) {
  const order = await shop.orders.get(id, {}, { signal });
  return part === "slip" ? drawSlip(order, query.get("parcel")) : draw(order);
}

function draw(order) {
  const { id, number, created_at: at, status, received, total } = order;
  /** Draws the changed order from the reply, and shows what was done. */
  const changed = (next, word, values) => replace(content, draw(next), t(word, values));
  const isOver = status === "cancelled" || status === "expired";
  const canShip = status === "paid" && order.items.some((line) => unsent(line) > 0);
  const canRefund = received > order.returned || (total === 0 && !isOver && status !== "pending");
  const content = page(
    t("order.number", { number }),
    h("p.badges", badges(order)),
    h("p", t("order.placed", { date: formatDate(at) })),
    drawAttention(order, changed),
    drawWithdrawals(order),
    h(
      "div.actions",
      (order.due > 0 || status === "expired") && status !== "cancelled" && drawPay(order, changed),
      canShip && drawShipping(order, changed),
      canRefund && drawRefund(order, changed),
      status === "pending" && drawCancel(order, changed),
    ),
    h(
      "p.buttons",
      h("a.button.is-quiet", { href: address("orders", id, "slip") }, t("slip.open")),
      order.paid_at && actionButton("invoice.open", () => saveInvoices(id)),
    ),
    section("order.goods", drawLines(order), drawTotals(order)),
    drawParcels(order, changed),
    drawPayments(order),
    drawRefunds(order, changed),
    drawBuyer(order),
    drawMetadata(order),
    drawNote(order, changed),
  );
  return content;
}

function drawCancel({ id, version, received, currency }, changed) {
  const word = received > 0 ? "order.cancelRefunds" : "order.cancelSure";
  return actionButton("order.cancel", async () => {
    if (!confirm(t(word, { amount: formatMoney(received, currency) }))) return;
    changed(await shop.orders.cancel(id, undefined, { ifVersion: version }), "order.cancelled");
  });
}

/** Downloads the invoice and the credit notes. The server issues them if they do not exist yet. */
async function saveInvoices(id) {
  const data = await shop.orders.invoice(id);
  for (const { kind, number, html } of data) if (html) save(`${kind}-${number}.html`, html, "text/html");
  toast(t("invoice.saved", { count: data.length }));
}

function drawLines({ items, currency }) {
  const draw = (item) => {
    const { quantity, fulfilled_quantity: sent, refunded_quantity: refunded, sku, subtotal } = item;
    const states = [
      sent > 0 && t("line.sent", { count: sent }),
      refunded > 0 && t("line.refunded", { count: refunded }),
    ];
    return line(`${quantity} × ${lineName(item)}`, joined(sku, ...states), formatMoney(subtotal, currency));
  };
  return h("ul.lines", items.map(draw));
}

function drawTotals(order) {
  const { currency, discount, discount_code: code, shipping, shipping_rate: rate, received, returned, due } = order;
  const money = (amount) => formatMoney(amount, currency);
  const tax = order.tax_lines.map((one) => `${one.rate} %: ${money(one.tax)}`).join(", ");
  return facts(
    fact("total.discount", discount > 0 && `−${money(discount)}${code ? ` (${code})` : ""}`),
    fact("total.shipping", `${money(shipping)}${rate ? ` (${rate.name})` : ""}`),
    fact("total.shippingTax", !order.prices_include_tax && money(order.shipping_tax)),
    fact("total.tax", tax || (order.tax > 0 && money(order.tax))),
    fact("total.total", h("strong", money(order.total))),
    fact("total.received", received > 0 && money(received)),
    fact("total.returned", returned > 0 && money(returned)),
    fact("total.due", due > 0 && h("strong", money(due))),
  );
}

function drawPayments({ payments, payment_method: method, transfer_reference, expires_at: until, status, currency }) {
  const draw = ({ received_at: at, provider, reference, amount }) => {
    const below = joined(t(`method.${provider}`), reference);
    return line(formatDay(at), below, formatMoney(amount, currency));
  };
  return section(
    "payments.title",
    facts(
      fact("payments.method", method && t(`method.${method}`)),
      fact("payments.transfer", transfer_reference),
      fact("payments.until", status === "pending" && formatDate(until)),
    ),
    payments.length === 0 ? none("payments.none") : h("ul.lines", payments.map(draw)),
  );
}

function drawBuyer({ user_id: user, email, phone, shipping_address: to, billing_address: bill, note }) {
  return section(
    "buyer.title",
    facts(
      fact("buyer.email", mailLink(email)),
      fact("buyer.phone", phone && h("a", { href: `tel:${encodeURIComponent(phone)}` }, phone)),
      fact("buyer.to", to && addressLines(to)),
      fact("buyer.bill", bill && addressLines(bill)),
      fact("buyer.note", note),
    ),
    user && link(address("customers", user), "buyer.open"),
  );
}

function drawMetadata({ metadata }) {
  const entries = Object.entries(metadata ?? {});
  const draw = ([name, value]) =>
    h("div", h("dt", name), h("dd", typeof value === "string" ? value : JSON.stringify(value)));
  return entries.length > 0 && section("order.metadata", facts(entries.map(draw)));
}
