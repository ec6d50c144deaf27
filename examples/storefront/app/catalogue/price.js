import { take } from "../dom.js";
import { formatMoney, t } from "../words.js";

export function price({ price: own, compare_at_price: former, currency, variants = [] }) {
  const prices = variants.map((variant) => variant.price);
  const lowest = prices.length > 0 ? Math.min(...prices) : own;
  const text = formatMoney(lowest, currency);
  const now = prices.some((one) => one !== lowest) ? t("price.from", { price: text }) : text;
  const isSale = isOnSale({ price: lowest, compare_at_price: former });
  return isSale ? take("sale-price", { now, before: formatMoney(former, currency) }) : take("price", { now });
}

export const isOnSale = ({ price: now, compare_at_price: former }) => Boolean(former) && former > now;

/** `available` is null if the stock of a product is not counted. */
export const isAvailable = ({ available, allow_backorder: canWait }) =>
  available === null || available > 0 || Boolean(canWait);

export function availability(item) {
  const { available } = item;
  if (!isAvailable(item)) return t("stock.none");
  if (available === null || available > 5) return t("stock.some");
  return available <= 0 ? t("stock.later") : t("stock.few", { count: available });
}
