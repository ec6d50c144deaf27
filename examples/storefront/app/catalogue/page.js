import { address, go } from "../address.js";
import { focusOn, h, slot, take } from "../dom.js";
import { onClick } from "../errors.js";
import { readCategories, shop } from "../shop.js";
import { t } from "../words.js";
import { card, cardFields, suggestions } from "./card.js";
import { drawFilters, readFilters, toQuery } from "./filters.js";
import { markLikes } from "./like.js";

const asked = { limit: 12, fields: cardFields, facets: "categories,tags,price", include_total: true };
const sorts = ["new", "popular", "price", "-price", "title"];

export async function show(route) {
  let filters;
  const content = take("catalogue", {
    form: {
      open: matchMedia("(min-width: 64rem)").matches,
      onsubmit: (event) => event.preventDefault(),
      onchange: ({ currentTarget }) => go(address("", readForm(currentTarget.querySelector("form"), filters))),
    },
    sort: { onchange: ({ target }) => go(address("", { ...filters, sort: target.value })) },
  });
  const update = async ({ query, signal }) => {
    filters = readFilters(query);
    await draw(content, filters, signal);
  };
  await update(route);
  return { content, update };
}

function readForm(form, { q, category, sort }) {
  const data = new FormData(form);
  return { q, category, sort, ...Object.fromEntries(data), tag: data.getAll("tag") };
}

async function draw(content, filters, signal) {
  const results = slot(content, "results");
  results.ariaBusy = "true";
  const list = shop.products.list({ ...toQuery(filters), ...asked });
  const [{ data, page }, categories] = await Promise.all([list.page(), readCategories()]);
  signal.throwIfAborted();
  results.ariaBusy = null;
  drawHead(content, filters, categories);
  slot(content, "summary").textContent = t("catalogue.count", { count: page.total ?? page.total_is_at_least });
  const { currency } = data[0] ?? (await shop.store());
  signal.throwIfAborted();
  const known = { facets: page.facets, categories, currency };
  keepFocus(slot(content, "form"), (form) => form.querySelector("form").replaceWith(drawFilters(filters, known)));
  if (data.length === 0) {
    const others = await suggestions("catalogue.others");
    signal.throwIfAborted();
    results.replaceChildren(take("nothing", { text: t("catalogue.none"), others }));
    return void markLikes(results);
  }
  const goods = h("ul", { class: "goods" }, data.map(card));
  results.replaceChildren(goods, page.has_more ? moreButton(list, page.next_cursor, goods) : "");
  void markLikes(goods);
}

function moreButton(list, cursor, goods) {
  const addPage = async () => {
    const { data, page } = await list.page(cursor);
    const cards = data.map(card);
    goods.append(...cards);
    void markLikes(goods);
    button.replaceWith(page.has_more ? moreButton(list, page.next_cursor, goods) : "");
    focusOn(cards[0]?.querySelector("a"));
  };
  const button = take("more");
  onClick(button, addPage);
  return button;
}

function drawHead(content, { q, category: slug, sort: chosen }, categories) {
  const category = [...categories.values()].find((one) => one.slug === slug);
  slot(content, "title").textContent = q ? t("catalogue.found", { q }) : (category?.title ?? t("catalogue.title"));
  slot(content, "lead").textContent = q || category ? (category?.description ?? "") : t("catalogue.lead");
  const sort = slot(content, "sort");
  const offered = q ? ["relevance", ...sorts] : sorts;
  sort.replaceChildren(...offered.map((value) => h("option", { value }, t(`sort.${value}`))));
  sort.value = offered.includes(chosen) ? chosen : offered[0];
}

function keepFocus(root, drawAgain) {
  const kept = root.contains(document.activeElement) && document.activeElement.dataset.keep;
  drawAgain(root);
  if (typeof kept === "string") focusOn(root.querySelector(`[data-keep="${CSS.escape(kept)}"]`) ?? root);
}
