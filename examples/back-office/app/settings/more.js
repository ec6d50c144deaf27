import { h, page } from "../dom.js";
import { row } from "../list.js";
import { t } from "../words.js";

const places = ["sales", "shipping", "taxes", "codes", "mails", "account"];

export function show() {
  const rows = places.map((name) => row(`#/${name}`, t(`${name}.title`), t(`${name}.lead`)));
  return page(t("more.title"), h("ul.rows", rows));
}
