import { amount, field, whole } from "../form.js";
import { readProfile, shop } from "../store.js";
import { amountText, formatMoney, readAmount, t } from "../words.js";
import { drawReplacedList } from "./replaced-list.js";

const amounts = ["free_from", "min_value", "max_value"];
const weights = ["min_weight_g", "max_weight_g"];
const listed = (text) => text.split(/[\s,;]+/).filter(Boolean);

const partsIn = (currency) => ({
  name: ({ zone, name, price }) => `${zone}: ${name}, ${formatMoney(price, currency)}`,
  fields: (rate) => [
    field("zone", "shipping.zone", { value: rate.zone, required: true, maxlength: 100 }),
    field("countries", "shipping.countries", {
      value: rate.countries?.join(" "),
      required: true,
      hint: t("shipping.countriesHint"),
    }),
    field("postcodes", "shipping.postcodes", { value: rate.postcodes?.join(" "), hint: t("shipping.postcodesHint") }),
    field("name", "shipping.name", { value: rate.name, required: true, maxlength: 100 }),
    field("price", "product.price", { ...amount, value: amountText(rate.price), required: true }),
    amounts.map((name) => field(name, `shipping.${name}`, { ...amount, value: amountText(rate[name]) })),
    weights.map((name) => field(name, `shipping.${name}`, { ...whole, value: rate[name] })),
  ],
  // Names in other languages and the tax class stay as they are.
  read: (values, { id: _, ...rate }) => ({
    ...rate,
    zone: values.zone,
    name: values.name,
    countries: listed(values.countries.toUpperCase()),
    postcodes: listed(values.postcodes),
    price: readAmount(values.price),
    ...Object.fromEntries(amounts.map((name) => [name, readAmount(values[name]) ?? null])),
    ...Object.fromEntries(weights.map((name) => [name, values[name] ? Number(values[name]) : null])),
  }),
  save: (rates) => shop.shipping.replaceRates({ rates: rates.map(({ id: _, ...rate }) => rate) }),
});

export async function show({ signal }) {
  const [rates, { currency }] = await Promise.all([shop.shipping.rates({}, { signal }), readProfile()]);
  return drawReplacedList("shipping", rates, partsIn(currency));
}
