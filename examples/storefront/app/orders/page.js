import { address } from "../address.js";
import { picture } from "../catalogue/picture.js";
import { h, take } from "../dom.js";
import { shop } from "../shop.js";
import { formatDate, formatMinor, t } from "../words.js";

export async function show({ signal }) {
  const { data } = await shop.orders.list({ limit: 100 }, { signal }).page();
  return take("orders", { rows: data.map(row) });
}

function row({ id, number, status, created_at, items, total_minor, currency }) {
  return take("order-row", {
    pictures: items.slice(0, 3).map(({ image }) => picture(image && { url: image }, "4rem")),
    title: h("a", { href: address("order", id) }, t("orders.number", { number })),
    date: formatDate(created_at),
    state: { class: `state is-${status}`, text: t(`state.${status}`) },
    cost: formatMinor(total_minor, currency),
  });
}
