import { readProfile, shop } from "../store.js";
import { formatMoney } from "../words.js";
import { drawReplacedList } from "./replaced-list.js";

const listed = (text) => (text ?? "").split(/[\s,;]+/).filter(Boolean);

const partsIn = (currency) => ({
  name: ({ zone, name, price }) => `${zone}: ${name}, ${formatMoney(price, currency)}`,
  fill: (rate) => ({ ...rate, countries: rate.countries.join(" "), postcodes: rate.postcodes.join(" ") }),
  // The form does not have all fields of a rate: names in other languages and the tax class are kept.
  read: ({ countries, postcodes, ...values }, rate) => ({
    ...rate,
    ...values,
    countries: listed(countries.toUpperCase()),
    postcodes: listed(postcodes),
  }),
  load: () => shop.shipping.rates(),
  save: (rates) => shop.shipping.replaceRates({ rates: rates.map(({ id: _, ...rate }) => rate) }),
});

export async function show({ signal }) {
  const [rates, { currency }] = await Promise.all([shop.shipping.rates({}, { signal }), readProfile()]);
  return drawReplacedList("shipping", rates, partsIn(currency));
}
