import { page } from "../dom.js";
import { given } from "../form.js";
import { drawList, searchForm } from "../list.js";
import { shop } from "../store.js";
import { t } from "../words.js";
import { orderRow } from "./names.js";

const statuses = ["pending", "paid", "completed", "cancelled", "expired"];

export async function show({ query, signal }) {
  const { q, status, attention } = Object.fromEntries(query);
  const options = [
    ["", t("list.all")],
    ["attention=any", t("todo.attention")],
    ...statuses.map((one) => [`status=${one}`, t(`status.${one}`)]),
  ];
  const filter = `${new URLSearchParams(given({ status, attention }))}`;
  const search = { q, word: "orders.search", hint: t("orders.searchHint"), options, filter };
  const list = shop.orders.list({ status, attention, q, limit: 25 }, { signal });
  return page(t("orders.title"), searchForm("orders", search), await drawList(list, orderRow));
}
