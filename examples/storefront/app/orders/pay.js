import { address } from "../address.js";
import { shop } from "../shop.js";
import { readToken, shareToken } from "./access.js";

/** Sends the buyer to the page of the payment provider, which leads back to the order. */
export async function pay(id) {
  const back = (how) => `${location.origin}${location.pathname}${address("order", id, { [how]: true })}`;
  const pages = { success_url: back("returned"), cancel_url: back("left") };
  const { url } = await shop.orders.openCheckout(id, pages, { orderToken: readToken(id) });
  // The browser's Back button leads to the order, too, even if the browser kept this page in memory.
  history.replaceState(null, "", pages.cancel_url);
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload(), { once: true });
  shareToken(id);
  location.assign(url);
}

/** Asks until the payment is decided, and calls `onDecided` with the order. */
export async function waitForPayment(id, signal, onDecided) {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    if (signal.aborted) return;
    const order = await readPayment(id, signal).catch(() => {});
    if (order && !isUndecided(order)) return onDecided(order);
  }
}

export const readPayment = (id, signal) =>
  shop.orders.checkPayment(id, undefined, { signal, orderToken: readToken(id) });

export const isUndecided = ({ status, payment_status }) =>
  status === "pending" && ["unpaid", "payment_processing"].includes(payment_status);
