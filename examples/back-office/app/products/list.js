import { address } from "../address.js";
import { h, page } from "../dom.js";
import { drawList, searchForm } from "../list.js";
import { shop } from "../store.js";
import { t } from "../words.js";
import { listFields, productRow } from "./row.js";

const statuses = ["published", "draft", "archived"];

export async function show({ query, signal }) {
  const { q, status } = Object.fromEntries(query);
  const options = [["", t("list.all")], ...statuses.map((one) => [`status=${one}`, t(`product.${one}`)])];
  const search = { q, word: "products.search", options, filter: `status=${status}` };
  const list = shop.products.list({ limit: 25, fields: listFields, q, status }, { signal });
  return page(
    t("products.title"),
    h("p", h("a.button", { href: address("products", "new") }, t("products.new"))),
    searchForm("products", search),
    await drawList(list, productRow),
  );
}
