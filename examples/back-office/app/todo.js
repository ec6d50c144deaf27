import { address } from "./address.js";
import { h, page, section } from "./dom.js";
import { orderRow } from "./orders/names.js";
import { readLowStock } from "./products/low-stock.js";
import { productRow } from "./products/row.js";
import { shop } from "./store.js";
import { t } from "./words.js";

const lists = [
  ["todo.attention", { attention: "any" }],
  ["todo.ship", { status: "paid" }],
  ["todo.unpaid", { status: "pending" }],
];

/** What waits for a person, oldest first. */
export async function show({ signal }) {
  const reads = lists.map(([, query]) =>
    shop.orders.list({ ...query, sort: "created_at", limit: 5, include_total: true }, { signal }).page(),
  );
  const [low, ...pages] = await Promise.all([readLowStock(signal), ...reads]);
  return page(
    t("todo.title"),
    ...pages.map(({ data, page: { total } }, index) => {
      const [word, query] = lists[index];
      return part(t(word), total, data.map(orderRow), total > data.length && address("orders", query));
    }),
    part(t("todo.low"), low.length, low.slice(0, 10).map(productRow)),
  );
}

function part(title, count, rows, more) {
  const heading = h("span", { class: "count" }, String(count));
  const root = section(
    title,
    count === 0 ? h("p", { class: "none" }, t("todo.none")) : h("ul", { class: "rows" }, rows),
    more && h("p", {}, h("a", { href: more }, t("todo.all", { count }))),
  );
  root.querySelector("h2").append(" ", heading);
  return root;
}
