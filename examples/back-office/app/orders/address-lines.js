import { h } from "../dom.js";
import { countryName } from "../words.js";

export function addressLines({ name, company, line1, line2, postal_code: code = "", city, region, country, phone }) {
  const lines = [name, company, line1, line2, `${code} ${city}`.trim(), region, countryName(country), phone];
  return lines.filter(Boolean).map((line) => h("span", { class: "line" }, line));
}
