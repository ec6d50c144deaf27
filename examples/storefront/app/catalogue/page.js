import { go } from "../address.js";
import { h, slot, take } from "../dom.js";
import { moreButton } from "../more.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { card, cardFields } from "./card.js";
import { readCategories } from "./categories.js";
import { drawFilters, filtersAddress, readFilters, toQuery } from "./filters.js";
import { markLikes } from "./like.js";

const limit = 12;
const sorts = ["new", "popular", "price", "-price", "title"];

/** The goods of the shop, with filters. */
export async function show(route) {
  const content = take("catalogue");
  let filters;
  const update = async ({ query, signal }) => {
    filters = readFilters(query);
    await draw(content, filters, signal);
  };
  const form = slot(content, "form");
  form.open = matchMedia("(min-width: 64rem)").matches;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => go(filtersAddress({ ...filters, ...readForm(form.querySelector("form")) })));
  slot(content, "sort").addEventListener("change", ({ target }) =>
    go(filtersAddress({ ...filters, sort: target.value })),
  );
  await update(route);
  return { content, update };
}

function readForm(form) {
  const data = new FormData(form);
  return {
    tag: data.getAll("tag"),
    price: data.get("price"),
    available: data.get("available"),
    on_sale: data.get("on_sale"),
  };
}

async function draw(content, filters, signal) {
  const results = slot(content, "results");
  results.ariaBusy = "true";
  const query = {
    ...toQuery(filters),
    limit,
    fields: cardFields,
    facets: "categories,tags,price",
    include_total: true,
  };
  const list = shop.products.list(query);
  const [{ data, page }, categories] = await Promise.all([list.page(), readCategories()]);
  signal.throwIfAborted();
  results.ariaBusy = null;
  drawHead(content, filters, categories);
  slot(content, "summary").textContent = t("catalogue.count", { count: page.total ?? page.total_is_at_least });
  const known = { facets: page.facets, categories, currency: data[0]?.currency ?? "EUR" };
  keepFocus(slot(content, "form"), (form) => form.querySelector("form").replaceWith(drawFilters(filters, known)));
  if (data.length === 0) return results.replaceChildren(take("nothing", { text: t("catalogue.none") }));
  const goods = h(
    "ul",
    { class: "goods" },
    data.map((one, index) => card(one, { isFirst: index < 3 })),
  );
  goods.classList.toggle("has-feature", filtersAddress(filters) === filtersAddress({}));
  const add = (products) => {
    const cards = products.map((product) => card(product));
    goods.append(...cards);
    void markLikes(goods);
    return cards;
  };
  results.replaceChildren(goods, page.has_more ? moreButton(list, page.next_cursor, add) : "");
  void markLikes(goods, signal);
}

function drawHead(content, { q, category: slug, sort: chosen }, categories) {
  const category = [...categories.values()].find((one) => one.slug === slug);
  slot(content, "title").textContent = q ? t("catalogue.found", { q }) : (category?.title ?? t("catalogue.title"));
  slot(content, "lead").textContent = q || category ? (category?.description ?? "") : t("catalogue.lead");
  const sort = slot(content, "sort");
  const offered = q ? ["relevance", "new"] : sorts;
  sort.replaceChildren(...offered.map((value) => h("option", { value }, t(`sort.${value}`))));
  sort.value = offered.includes(chosen) ? chosen : offered[0];
}

/** Draws a part of the page anew, and leaves the focus on the same control. */
function keepFocus(root, drawAgain) {
  const kept = root.contains(document.activeElement) && document.activeElement.dataset.keep;
  drawAgain(root);
  if (typeof kept === "string") root.querySelector(`[data-keep="${CSS.escape(kept)}"]`)?.focus();
}
