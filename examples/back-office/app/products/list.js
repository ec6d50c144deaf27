import { address } from "../address.js";
import { h, page } from "../dom.js";
import { drawList } from "../list.js";
import { searchForm } from "../search.js";
import { shop } from "../store.js";
import { t } from "../words.js";
import { listFields, productRow } from "./row.js";

const statuses = ["published", "draft", "archived"];

export async function show({ query, signal }) {
  const { q = "", status = "" } = Object.fromEntries(query);
  const options = [["", t("list.all")], ...statuses.map((one) => [`status=${one}`, t(`product.${one}`)])];
  const search = searchForm("products", { q, word: "products.search", options, filter: status && `status=${status}` });
  const asked = { limit: 25, fields: listFields, ...(q && { q }), ...(status && { status }) };
  return page(
    t("products.title"),
    h("p", {}, h("a", { class: "button", href: address("products", "new") }, t("products.new"))),
    search,
    await drawList(shop.products.list(asked, { signal }), productRow),
  );
}
