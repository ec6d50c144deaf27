import { address, go } from "../address.js";
import { totals } from "../basket/totals.js";
import { picture } from "../catalogue/picture.js";
import { h, slot, take, toast } from "../dom.js";
import { act, onClick } from "../errors.js";
import { mailNote, nextStep } from "../form.js";
import { config, isSignedIn, shop } from "../shop.js";
import { readStore, taxNote } from "../store.js";
import { countryName, formatDate, formatMinor, t, variantName } from "../words.js";
import { collectToken, dropToken, linkTo, readToken, readWithdrawn } from "./access.js";
import { drawParcels } from "./parcels.js";
import { isUndecided, pay, readPayment, waitForPayment } from "./pay.js";

/** For its customer, or a guest who has its token. */
export async function show({ id, query, signal }) {
  collectToken(id);
  const orderToken = readToken(id);
  const askForLink = () => go(address("link", { next: location.hash }), { replace: true });
  if (!orderToken && !(await isSignedIn())) return askForLink();
  try {
    const arrival = ["placed", "returned", "left", "failed", "refused"].find((one) => query.has(one));
    const [stored, store] = await Promise.all([shop.orders.get(id, {}, { signal, orderToken }), readStore()]);
    // The payment provider may not have reported a payment yet.
    const mayBePaid = stored.payment_method === "stripe" && isUndecided(stored);
    const order = mayBePaid ? await readPayment(id, signal).catch(() => stored) : stored;
    // Once: a reload shows the order.
    if (arrival) history.replaceState(history.state, "", address("order", id));
    return draw(order, { store, orderToken, arrival, signal });
  } catch (error) {
    if (error.code !== 5301 || !orderToken) throw error;
    dropToken(id);
    toast(t("link.ended"));
    return askForLink();
  }
}

function draw(order, { store, orderToken, arrival, signal }) {
  const isPlaced = arrival === "placed" || arrival === "returned";
  const isWaiting = arrival === "returned" && isUndecided(order);
  const { id, number, status, created_at, items, currency, fulfillments } = order;
  const isOpen = status === "pending" && order.received_minor === 0;
  const isOver = status === "cancelled" || status === "expired";
  const withdrawn = readWithdrawn(id);
  const isDue = status === "pending" && withdrawn !== "whole";
  const content = take("order", {
    title: isPlaced ? t("order.thanks") : t("orders.number", { number }),
    lead: isPlaced ? t("order.placed", { number }) : t("order.of", { date: formatDate(created_at) }),
    state: { class: `state is-${status}`, text: t(`state.${nameState(order)}`) },
    what: (isDue || status !== "pending") && describe(order),
    delivery: !isOver && fulfillments.length === 0 && order.shipping_rate && t("delivery.time"),
    payment: isDue && (drawCard(order, arrival, isWaiting) ?? drawPayment(order, store)),
    demo: config.mail && {},
    hint: isDue && {},
    mails: mailNote("mail.demo"),
    parcels: fulfillments.length > 0 && drawParcels(order),
    lines: items.map((line) => drawLine(line, currency)),
    tax: taxNote({ ...store, prices_include_tax: order.prices_include_tax }),
    totals: totals(order),
    address: order.shipping_address && drawAddress(order.shipping_address),
    withdraw: !isOver &&
      items.some(({ quantity, refunded_quantity }) => quantity > refunded_quantity) && {
        href: address("withdraw", { order: id }),
      },
    withdrawn: withdrawn !== null && {},
    cancelling: isOpen && !isWaiting && {},
    copying: orderToken && {},
    orders: !orderToken && {},
  });
  const redrawAs = (how) => (next) => {
    nextStep(content, draw(next, { store, orderToken, signal, arrival: how }));
  };
  if (isOpen && !isWaiting) startCancelling(content, order, redrawAs());
  if (isWaiting) void waitForPayment(id, signal, redrawAs(arrival));
  if (orderToken) {
    onClick(slot(content, "copy"), async () => {
      try {
        await navigator.clipboard.writeText(linkTo(id));
        toast(t("link.copied"));
      } catch {
        // Without TLS, or without permission, a page cannot write to the clipboard.
        prompt(t("link.copy"), linkTo(id));
      }
    });
  }
  return content;
}

function nameState({ status, payment_status: payment, fulfillment_status: fulfillment }) {
  if (status === "pending" && payment !== "unpaid") return payment;
  if (status === "paid" && fulfillment === "partially_fulfilled") return fulfillment;
  return status === "completed" && payment === "refunded" ? payment : status;
}

function describe({ status, received_minor: received, expires_at, paid_at, fulfilled_at, cancelled_at }) {
  // An order that was paid in part does not expire.
  if (status === "pending" && received > 0) return t("order.partlyPaid");
  const at = { pending: expires_at, paid: paid_at, completed: fulfilled_at, cancelled: cancelled_at }[status];
  return t(`order.${status}`, { date: at ? formatDate(at, { dateStyle: "medium", timeStyle: "short" }) : "" });
}

function drawPayment({ payment_method: method, transfer_reference, number, due_minor: due, currency }, store) {
  if (method !== "manual" || !store.transfer_instructions) return null;
  return take("transfer", {
    title: t("transfer.title", { amount: formatMinor(due, currency) }),
    instructions: store.transfer_instructions,
    reference: transfer_reference ?? t("orders.number", { number }),
  });
}

/** The button to pay by card, which waits while a payment is decided. */
function drawCard({ id, payment_method: method, payment_status, due_minor: due, currency }, arrival, isWaiting) {
  if (method !== "stripe" || due === 0) return null;
  const isProcessing = isWaiting || payment_status === "payment_processing";
  const word = isProcessing ? "waiting" : ["left", "failed", "refused"].includes(arrival) ? arrival : "open";
  const note = take("card-payment", {
    title: t("card.title", { amount: formatMinor(due, currency) }),
    text: t(`card.${word}`),
    pay: !isProcessing && {},
  });
  if (!isProcessing) onClick(slot(note, "pay"), () => pay(id));
  return note;
}

function drawLine({ title, variant_title, quantity, subtotal_minor, image, refunded_quantity: count }, currency) {
  return take("line", {
    picture: picture(image && { url: image }, "7rem"),
    title,
    variant: variantName(variant_title),
    note: count > 0 && t("order.refunded", { count }),
    row: t("order.pieces", { count: quantity }),
    cost: formatMinor(subtotal_minor, currency),
  });
}

function drawAddress({ name, company, line1, line2, postal_code = "", city, country }) {
  const lines = [name, company, line1, line2, `${postal_code} ${city}`, countryName(country)];
  return lines.filter(Boolean).map((line) => h("span", {}, line));
}

function startCancelling(content, { id }, redraw) {
  const dialog = content.querySelector("dialog");
  const button = slot(content, "cancel");
  button.addEventListener("click", () => dialog.showModal());
  // A refused cancellation leaves the order as it is now, such as paid.
  const cancel = () =>
    shop.orders
      .cancel(id, undefined, { orderToken: readToken(id) })
      .catch(() => readPayment(id))
      .then(redraw);
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && act(button, cancel));
}
