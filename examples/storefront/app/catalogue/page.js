import { go } from "../address.js";
import { focusOn, h } from "../dom.js";
import { apology } from "../errors.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { card, cardFields, cardPlaceholders } from "./card.js";
import { readCategories } from "./categories.js";
import { drawFilters, filtersAddress, isFiltered, readFilters, toQuery } from "./filters.js";
import { markLikes } from "./like.js";

const pageSize = 12;
const sorts = ["new", "popular", "price", "-price", "title"];

export function placeholder() {
  return h(
    "div",
    { class: "catalogue is-waiting", "aria-hidden": "true" },
    h("div", { class: "catalogue-head" }),
    h("div", { class: "filters" }),
    h("ul", { class: "goods" }, cardPlaceholders(pageSize)),
  );
}

/** The goods of the shop, with filters. */
export async function show(route) {
  const heading = h("h1");
  const lead = h("p", { class: "lead" });
  const summary = h("p", { class: "summary", role: "status" });
  const sort = h("select", { name: "sort", id: "sort" });
  const filters = h("form", { class: "filters", onsubmit: (event) => event.preventDefault() });
  const folded = h("details", { class: "fold" }, h("summary", null, t("filter.title")), filters);
  folded.open = matchMedia("(min-width: 64rem)").matches;
  const results = h("div", { class: "results" });
  const parts = { heading, lead, summary, sort, filters, results };
  folded.addEventListener("change", () => go(filtersAddress(chosen(filters, readFilters(parts.query)))));
  sort.addEventListener("change", () => go(filtersAddress({ ...readFilters(parts.query), sort: sort.value })));

  const update = async (next) => {
    parts.query = next.query;
    await draw(parts, next);
    return heading.textContent;
  };
  const title = await update(route);
  const content = h(
    "div",
    { class: "catalogue" },
    h("div", { class: "catalogue-head" }, heading, lead),
    folded,
    h("div", { class: "bar" }, summary, h("label", { for: "sort" }, t("sort.by")), sort),
    results,
  );
  return { title, content, update };
}

async function draw(parts, { query, signal }) {
  const filters = readFilters(query);
  parts.results.setAttribute("aria-busy", "true");
  const list = shop.products.list(
    { ...toQuery(filters), limit: pageSize, fields: cardFields, facets: "categories,tags,price", include_total: true },
    { signal },
  );
  const [{ data, page }, categories] = await Promise.all([list.page(), readCategories()]);
  parts.results.removeAttribute("aria-busy");
  const count = page.total ?? page.total_is_at_least ?? data.length;
  drawHead(parts, filters, categories);
  parts.summary.textContent = t("catalogue.count", { count });
  keepFocus(parts.filters, () =>
    parts.filters.replaceChildren(
      ...drawFilters({ filters, facets: page.facets, categories, currency: data[0]?.currency ?? "EUR" }).filter(
        Boolean,
      ),
    ),
  );
  drawResults(parts.results, { data, page, list, signal, isPlain: !isFiltered(filters) && !filters.sort });
}

function drawHead({ heading, lead, sort }, { q, category, sort: chosen }, categories) {
  const found = [...categories.values()].find(({ slug }) => slug === category);
  heading.textContent = q ? t("catalogue.found", { q }) : (found?.title ?? t("catalogue.title"));
  lead.textContent = q || found ? (found?.description ?? "") : t("catalogue.lead");
  const offered = q ? ["relevance", "new"] : sorts;
  const options = offered.map((value) => h("option", { value }, t(`sort.${value}`)));
  sort.replaceChildren(...options);
  sort.value = offered.includes(chosen) ? chosen : offered[0];
}

function drawResults(results, { data, page, list, signal, isPlain }) {
  if (data.length === 0) {
    const all = h("a", { class: "button", href: "#/" }, t("frame.goods"));
    results.replaceChildren(h("div", { class: "nothing" }, h("p", null, t("catalogue.none")), all));
    return;
  }
  const cards = data.map((product, index) => card(product, { isFirst: index < 3 }));
  const goods = h("ul", { class: isPlain ? "goods has-feature" : "goods" }, cards);
  results.replaceChildren(goods);
  if (page.has_more) results.append(moreButton(goods, list, page.next_cursor));
  void markLikes(goods, signal);
}

/** Adds the next page of the list below; the focus goes to the first of the new goods. */
function moreButton(goods, list, cursor) {
  const button = h("button", { type: "button", class: "button is-quiet more" }, t("catalogue.more"));
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { data, page } = await list.page(cursor);
      const cards = data.map((product) => card(product));
      goods.append(...cards);
      if (page.has_more) button.replaceWith(moreButton(goods, list, page.next_cursor));
      else button.remove();
      focusOn(cards[0]?.querySelector("a"));
      void markLikes(goods);
    } catch (error) {
      button.replaceWith(
        apology(error, ({ target }) => target.closest(".apology").replaceWith(moreButton(goods, list, cursor))),
      );
    }
  });
  return button;
}

/** The filters as the form has them now. */
function chosen(form, filters) {
  const data = new FormData(form);
  const [min, max] = (data.get("price") ?? "").split("-");
  return {
    ...filters,
    tag: data.getAll("tag"),
    min,
    max,
    available: data.get("available"),
    on_sale: data.get("on_sale"),
  };
}

/** Draws a part of the page anew, and leaves the focus on the same control. */
function keepFocus(root, drawAgain) {
  const kept = root.contains(document.activeElement) && document.activeElement.dataset.keep;
  drawAgain();
  if (kept) [...root.querySelectorAll("[data-keep]")].find(({ dataset }) => dataset.keep === kept)?.focus();
}
