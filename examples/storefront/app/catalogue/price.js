import { h } from "../dom.js";
import { formatMoney } from "../money.js";
import { t } from "../words.js";

/** The price of a product or variant, with its former price while it is on sale. */
export function price({ price: amount, compare_at_price: former, currency, variants = [] }) {
  const prices = variants.map((variant) => variant.price);
  const lowest = prices.length > 0 ? Math.min(...prices) : amount;
  const isFrom = prices.some((one) => one !== lowest);
  const text = formatMoney(lowest, currency);
  const now = isFrom ? t("price.from", { price: text }) : text;
  if (!isOnSale({ price: lowest, compare_at_price: former })) return h("span", { class: "price" }, now);
  return h(
    "span",
    { class: "price is-sale" },
    h("span", { class: "visually-hidden" }, t("price.now")),
    h("ins", null, now),
    h("span", { class: "visually-hidden" }, t("price.before")),
    h("del", null, formatMoney(former, currency)),
  );
}

export function isOnSale({ price: amount, compare_at_price: former }) {
  return former !== null && former !== undefined && former > amount;
}

/** Whether somebody can order it now; `available` is null where stock is not counted. */
export function isAvailable({ available, allow_backorder: canWait }) {
  return available === null || available > 0 || Boolean(canWait);
}

/** A word about the stock, where there is something to say; the store tells visitors of ten pieces at most. */
export function availability(item) {
  const { available } = item;
  if (!isAvailable(item)) return t("stock.none");
  if (available === null || available > 5) return t("stock.some");
  return available <= 0 ? t("stock.later") : t("stock.few", { count: available });
}
