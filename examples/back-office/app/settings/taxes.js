import { shop } from "../store.js";
import { amountText, countryName } from "../words.js";
import { drawReplacedList } from "./replaced-list.js";

const parts = {
  name: ({ class: name, country, rate }) => `${countryName(country)}, ${name}: ${amountText(rate)} %`,
  fill: (rate) => rate,
  read: (values) => ({ ...values, country: values.country.toUpperCase() }),
  load: async (options) => (await shop.call("GET /taxes/rates/", options)).data.rates,
  save: async (rates) => (await shop.call("PUT /taxes/rates/", { body: { rates } })).data.rates,
};

export async function show({ signal }) {
  return drawReplacedList("taxes", await parts.load({ signal }), parts);
}
