import { address } from "./address.js";
import { h, page } from "./dom.js";
import { none } from "./list.js";
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
    pages.map(({ data, page: { total } }, index) => {
      const [word, query] = lists[index];
      return part(word, total, data.map(orderRow), total > data.length && address("orders", query));
    }),
    part("todo.low", low.length, low.slice(0, 10).map(productRow)),
  );
}

function part(word, count, rows, more) {
  return h(
    "section",
    h("h2", t(word), " ", h("span.count", String(count))),
    count === 0 ? none("todo.none") : h("ul.rows", rows),
    more && h("p", h("a", { href: more }, t("todo.all", { count }))),
  );
}
