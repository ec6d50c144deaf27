import { h } from "../dom.js";
import { formatMinor, formatNumber, t } from "../words.js";

/** Lists the amounts of an order. Tax that prices include comes after the total. */
export function totals(order) {
  const { currency, total_minor: total, subtotal_minor: goods, prices_include_tax: isIncluded } = order;
  const row = (name, minor, label = t(`total.${name}`)) => [
    h("dt", { class: name }, label),
    h("dd", { class: name }, name === "shipping" && minor === 0 ? t("shipping.free") : formatMinor(minor, currency)),
  ];
  const optional = (name, minor = order[`${name}_minor`]) => (minor ? row(name, minor) : []);
  const taxes = taxRows(order, row);
  const isPaidInPart = order.received_minor > 0 && order.due_minor > 0;
  return h("dl", { class: "totals", "data-test": "totals" }, [
    goods === total ? [] : row("subtotal", goods),
    order.discount_minor ? row("discount", -order.discount_minor, discountLabel(order)) : [],
    order.shipping_rate ? row("shipping", order.shipping_minor, shippingLabel(order)) : optional("shipping"),
    isIncluded ? [] : taxes,
    row("total", total),
    isIncluded ? taxes : [],
    isPaidInPart ? [row("received", order.received_minor), row("due", order.due_minor)] : [],
    optional("refunded", order.returned_minor),
  ]);
}

function taxRows({ tax_lines: lines, tax_minor: tax, prices_include_tax: isIncluded }, row) {
  const name = isIncluded ? "tax-part" : "tax";
  if (lines.length === 0) return tax ? row(name, tax, t("total.tax")) : [];
  return lines
    .filter(({ tax_minor: part }) => part !== 0)
    .map(({ rate, tax_minor: part }) =>
      row(name, part, t(isIncluded ? "total.taxIncluded" : "total.taxOf", { rate: formatNumber(rate) })),
    );
}

const discountLabel = ({ discount_code: code }) => [t("total.discount"), code && ` (${code})`];

const shippingLabel = ({ shipping_rate: { name } }) => t("total.shippingBy", { name });
