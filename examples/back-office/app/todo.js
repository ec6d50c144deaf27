import { address } from "./address.js";
import { h, joined, page } from "./dom.js";
import { line, none, row } from "./list.js";
import { orderRow } from "./orders/names.js";
import { drawUnmatched } from "./orders/withdrawals.js";
import { shop } from "./store.js";
import { formatDate, t } from "./words.js";

const lists = [
  ["todo.attention", { attention: "any" }],
  ["todo.ship", { status: "paid" }],
  ["todo.unpaid", { status: "pending" }],
];

export async function show({ signal }) {
  const reads = lists.map(([, query]) =>
    shop.orders.list({ ...query, sort: "created_at", limit: 5, include_total: true }, { signal }).page(),
  );
  const [todo, unmatched, ...pages] = await Promise.all([
    shop.reports.todo({ limit: 20 }, { signal }),
    shop.orders.withdrawals({ matched: false, limit: 20 }, { signal }).page(),
    ...reads,
  ]);
  const kept = (kind, draw) => todo.filter((one) => one.kind === kind).map(draw);
  // Withdrawals without an order cannot be marked as done, so the server lists those of the last two weeks.
  const recent = kept("unknown_withdrawal", ({ id }) => id);
  const unknown = unmatched.data.filter(({ id }) => recent.includes(id)).map(drawUnmatched);
  const drawLow = ({ id, detail, count }) => row(address("products", id), detail, t("stock.left", { count }));
  const drawFailed = ({ detail, since }) => {
    const [kind, ...reason] = detail.split(": ");
    return line(t(`mails.${kind}`), joined(formatDate(since), reason.join(": ")));
  };
  const failed = kept("failed_mail", drawFailed);
  return page(
    t("todo.title"),
    unknown.length > 0 && part("todo.withdrawals", unknown),
    pages.map(({ data, page: { total } }, index) => {
      const [word, query] = lists[index];
      return part(word, data.map(orderRow), total, total > data.length && address("orders", query));
    }),
    part("todo.low", kept("low_stock", drawLow)),
    failed.length > 0 && part("todo.mail", failed),
  );
}

function part(word, rows, count = rows.length, more = null) {
  return h(
    "section",
    h("h2", t(word), " ", h("span.count", String(count))),
    count === 0 ? none("todo.none") : h("ul.rows", rows),
    more && h("p", h("a", { href: more }, t("todo.all", { count }))),
  );
}
