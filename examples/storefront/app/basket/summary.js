import { h, slot, take } from "../dom.js";
import { explain } from "../errors.js";
import { taxNote } from "../store.js";
import { countryName, formatMinor, t, variantName } from "../words.js";
import { totals } from "./totals.js";

/** Codes of errors that another try does not solve. */
const unmended = [5102, 5304, 5308];

/** Draws goods and amounts, or the reason why the order cannot be placed. */
export function drawSummary(content, { lines, store, country, retry }, { error, items = lines, ...preview }) {
  const rows = items.map(({ title, variant_title, quantity, price_minor, subtotal_minor = price_minor * quantity }) => {
    const name = [`${quantity} × ${title}`, variantName(variant_title)].filter(Boolean).join(", ");
    return take("summary-line", { name, cost: formatMinor(subtotal_minor, lines[0].currency) });
  });
  slot(content, "lines").replaceChildren(...rows);
  slot(content, "tax").textContent = taxNote(store);
  const fault = (text) => h("p", { class: "fault", role: "alert" }, text);
  const again = h("button", { type: "button", class: "link-button", onclick: retry }, t("error.retry"));
  const faults = () => [fault(explainGoods(error, lines, country)), ...(unmended.includes(error.code) ? [] : [again])];
  slot(content, "sum").replaceChildren(...(error ? faults() : [totals(preview)]));
  slot(content, "submit").disabled = Boolean(error);
  const payment = slot(content, "payment");
  if (payment) payment.hidden = preview.total === 0;
}

/** The shop's text for each message of the API that contains the key. */
const reasons = {
  "can reserve at most": "checkout.most",
  "pay at once": "checkout.long",
  "can be ordered now": "checkout.fewer",
};

/** Explains an error about goods. The API names their fields, such as `items.0.quantity`. */
function explainGoods(error, lines, country) {
  if (error.code === 5308) return t("shipping.none", { country: countryName(country) });
  const [{ message = "" } = {}] = error.details ?? [];
  const titles = (error.details ?? []).map(({ field }) => lines[field.split(".")[1]]?.title).filter(Boolean);
  if (titles.length === 0) return explain(error);
  const [, count] = /can reserve at most (\d+)/.exec(message) ?? [];
  const reason = Object.keys(reasons).find((one) => message.includes(one));
  return t(reasons[reason] ?? "checkout.short", { title: titles.join(", "), count });
}

/** Does not draw unchanged rates again, because the choice would lose the focus. */
export function drawRates(content, { offers, shipping_rate: chosen, error, currency }, country) {
  const box = slot(content, "rates");
  const isNone = error?.code === 5308;
  // Errors that are not about shipping do not change the choice.
  if (error && !isNone && box.dataset.state) return;
  const state = JSON.stringify([offers, isNone && country]);
  if (box.dataset.state === state) return;
  box.dataset.state = state;
  slot(content, "delivery").hidden = isNone;
  slot(content, "shipping").hidden = offers.length === 0 && !isNone;
  const words = isNone && h("p", { class: "fault" }, t("shipping.none", { country: countryName(country) }));
  const rows = offers.map(({ id, name, price_minor: price }) =>
    take("choice", {
      input: { type: "radio", name: "shipping_rate", value: id, checked: id === chosen?.id },
      text: name,
      count: price === 0 ? t("shipping.free") : formatMinor(price, currency),
    }),
  );
  box.replaceChildren(...(isNone ? [words] : rows));
}
