import { address } from "../address.js";
import { picture } from "../catalogue/picture.js";
import { h, slot, take } from "../dom.js";
import { formatMinor } from "../money.js";
import { moreButton } from "../more.js";
import { shop } from "../shop.js";
import { formatDate, t } from "../words.js";

/** The customer's orders, newest first. */
export async function show({ signal }) {
  const list = shop.orders.list();
  const { data, page } = await list.page();
  signal.throwIfAborted();
  const content = take("orders");
  const add = (orders) => {
    const added = orders.map(row);
    slot(content, "rows").append(...added);
    return added;
  };
  add(data);
  if (data.length === 0) slot(content, "rest").append(take("nothing", { text: t("orders.none") }));
  if (page.has_more) slot(content, "rest").append(moreButton(list, page.next_cursor, add));
  return content;
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
