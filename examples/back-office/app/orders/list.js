import { h, page } from "../dom.js";
import { drawList, none } from "../list.js";
import { searchForm } from "../search.js";
import { shop } from "../store.js";
import { t } from "../words.js";
import { orderRow } from "./names.js";

const statuses = ["pending", "paid", "completed", "cancelled", "expired"];

export async function show({ query, signal }) {
  const { q = "", ...filters } = Object.fromEntries(query);
  const options = [
    ["", t("list.all")],
    ["attention=any", t("todo.attention")],
    ...statuses.map((one) => [`status=${one}`, t(`status.${one}`)]),
  ];
  const filter = `${new URLSearchParams(filters)}`;
  const search = { q, word: "orders.search", hint: t("orders.searchHint"), options, filter };
  return page(t("orders.title"), searchForm("orders", search), await drawFound(q, filters, signal));
}

async function drawFound(q, { status, attention }, signal) {
  const list = (query) => shop.orders.list({ status, attention, ...query, limit: 25 }, { signal });
  const number = /^(?:#|RF\d\d)?\s*0*([1-9]\d{0,14})$/i.exec(q.replace(/\s/g, ""))?.[1];
  if (number) return drawList(list({ number: Number(number) }), orderRow);
  if (q.includes("@")) return drawList(list({ email: q }), orderRow);
  if (!q) return drawList(list({}), orderRow);
  // A word is the beginning of a customer's name or email.
  const customers = (await shop.users.list({ q, limit: 5 }, { signal }).page()).data;
  const found = await Promise.all(customers.map(({ id }) => list({ customer_id: id }).page()));
  const orders = found.flatMap(({ data }) => data).sort((a, b) => b.created_at.localeCompare(a.created_at));
  return orders.length === 0 ? none() : h("ul.rows", orders.map(orderRow));
}
