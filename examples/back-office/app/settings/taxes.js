import { amount, field } from "../form.js";
import { shop } from "../store.js";
import { amountText, countryName, readAmount } from "../words.js";
import { drawReplacedList } from "./replaced-list.js";

const parts = {
  name: ({ class: name, country, rate }) => `${countryName(country)}, ${name}: ${amountText(rate)} %`,
  fields: ({ class: name = "standard", country, rate }) => [
    field("country", "taxes.country", { value: country, required: true, pattern: "[A-Za-z]{2}", maxlength: 2 }),
    field("class", "product.taxClass", {
      value: name,
      required: true,
      pattern: "[a-z0-9][a-z0-9_\\-]*",
      maxlength: 50,
    }),
    field("rate", "taxes.rate", { ...amount, value: amountText(rate), required: true }),
  ],
  read: ({ country, rate, class: name }) => ({ class: name, country: country.toUpperCase(), rate: readAmount(rate) }),
  save: async (rates) => (await shop.call("PUT /taxes/rates/", { body: { rates } })).data.rates,
};

export async function show({ signal }) {
  const { data } = await shop.call("GET /taxes/rates/", { signal });
  return drawReplacedList("taxes", data.rates, parts);
}
