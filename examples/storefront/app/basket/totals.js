import { h } from "../dom.js";
import { formatMinor, t } from "../words.js";

const names = ["subtotal", "discount", "shipping", "tax", "total", "refunded"];

export function totals(order) {
  const { total_minor: total, currency } = order;
  const row = (name) => {
    const minor = order[`${name}_minor`];
    if (name !== "total" && (minor === 0 || (name === "subtotal" && minor === total))) return [];
    const amount = formatMinor(name === "discount" ? -minor : minor, currency);
    return [h("dt", { class: name }, t(`total.${name}`)), h("dd", { class: name }, amount)];
  };
  return h("dl", { class: "totals", "data-test": "totals" }, names.map(row));
}
