import { address } from "../address.js";
import { h, take } from "../dom.js";
import { formatRange } from "../money.js";
import { t } from "../words.js";

/** How many tags are offered before all others. */
const shownTags = 12;

/** The filters of an address: it can be shared, and the back button undoes one choice. */
export function readFilters(query) {
  return { ...Object.fromEntries(query), tag: query.getAll("tag") };
}

/** The address of the catalogue with these filters. */
export function filtersAddress(filters) {
  const pairs = Object.entries(filters).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return address("", new URLSearchParams(pairs.filter(([, value]) => value)));
}

/** The filters as the query of `GET /products/`. */
export function toQuery({ price, sort, ...filters }) {
  const [gte, lt] = (price ?? "").split("-");
  const order = sort ?? (filters.q && "relevance");
  return { ...filters, ...(lt && { price: { gte, lt } }), sort: order === "new" ? undefined : order };
}

/** The filters that would leave something, with how much they would leave. */
export function drawFilters(filters, { facets, categories, currency }) {
  const choices = (name, type, values) =>
    values.map(({ value, text, count }) => {
      const checked = [filters[name] ?? ""].flat().includes(value);
      return take("choice", { input: { type, name, value, checked, "data-keep": `${name}=${value}` }, text, count });
    });
  const bands = facets.price.values.map(({ gte, lt, count }) => {
    return { value: `${gte}-${lt}`, text: formatRange(gte, lt, currency), count };
  });
  const tags = facets.tags.values.filter(({ value }, index) => index < shownTags || filters.tag.includes(value));
  return take("filters", {
    categories: drawCategories(filters, facets.categories.values, categories),
    prices: choices("price", "radio", [{ value: "", text: t("filter.anyPrice") }, ...bands]),
    tags: choices(
      "tag",
      "checkbox",
      tags.map(({ value }) => ({ value, text: value })),
    ),
    only: ["available", "on_sale"].map((name) =>
      choices(name, "checkbox", [{ value: "true", text: t(`filter.${name}`) }]),
    ),
  });
}

/** The categories that have something, below their parents. */
function drawCategories(filters, values, categories) {
  const counts = new Map(values.map(({ id, count }) => [id, count]));
  const row = (slug, title, count, below = []) => {
    const isCurrent = (filters.category ?? "") === slug && "true";
    const href = filtersAddress({ ...filters, category: slug });
    const number = count && h("span", { class: "count" }, count);
    const link = h("a", { href, "aria-current": isCurrent, "data-keep": slug }, h("span", {}, title), number);
    return h("li", {}, link, below.length > 0 && h("ul", {}, below));
  };
  const branch = (parent) =>
    [...categories.values()]
      .filter(({ id, parent_id }) => parent_id === parent && counts.has(id))
      .map(({ id, slug, title }) => row(slug, title, counts.get(id), branch(id)));
  return [row("", t("frame.goods")), branch(null)];
}
