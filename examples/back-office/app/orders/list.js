import { h, page } from "../dom.js";
import { drawList } from "../list.js";
import { searchForm } from "../search.js";
import { shop } from "../store.js";
import { t } from "../words.js";
import { orderRow } from "./names.js";

const statuses = ["pending", "paid", "completed", "cancelled", "expired"];

export async function show({ query, signal }) {
  const { q = "", status, attention } = Object.fromEntries(query);
  const filters = { ...(status && { status }), ...(attention && { attention }) };
  const options = [
    ["", t("list.all")],
    ["attention=any", t("todo.attention")],
    ...statuses.map((one) => [`status=${one}`, t(`status.${one}`)]),
  ];
  const asked = {
    q,
    word: "orders.search",
    hint: t("orders.searchHint"),
    options,
    filter: `${new URLSearchParams(filters)}`,
  };
  return page(t("orders.title"), searchForm("orders", asked), await drawFound(q, filters, signal));
}

async function drawFound(q, filters, signal) {
  const list = (query) => shop.orders.list({ ...filters, ...query, limit: 25 }, { signal });
  const number = /^(?:#|RF\d\d)?\s*0*([1-9]\d{0,14})$/i.exec(q.replace(/\s/g, ""))?.[1];
  if (number) return drawList(list({ number: Number(number) }), orderRow);
  if (q.includes("@")) return drawList(list({ email: q }), orderRow);
  if (!q) return drawList(list({}), orderRow);
  // A word is the beginning of a customer's name or email.
  const customers = (await shop.users.list({ q, limit: 5 }, { signal }).page()).data;
  const found = await Promise.all(customers.map(({ id }) => list({ customer_id: id }).page()));
  const orders = found.flatMap(({ data }) => data).sort((a, b) => b.created_at.localeCompare(a.created_at));
  if (orders.length === 0) return h("p", { class: "none" }, t("list.none"));
  return h("ul", { class: "rows" }, orders.map(orderRow));
}
