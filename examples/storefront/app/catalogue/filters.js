import { address } from "../address.js";
import { h, take } from "../dom.js";
import { formatRange, named, t } from "../words.js";

export function readFilters(query) {
  return { ...Object.fromEntries(query), tag: query.getAll("tag") };
}

export function toQuery({ price, sort, ...filters }) {
  const [gte, lt] = (price ?? "").split("-");
  const order = sort ?? (filters.q && "relevance");
  return { ...filters, ...(lt && { price: { gte, lt } }), sort: order === "new" ? undefined : order };
}

export function drawFilters(filters, { facets, categories, currency }) {
  const choice = (name, type, { value, text = value, count }) => {
    const checked = [filters[name] ?? ""].flat().includes(value);
    return take("choice", { input: { type, name, value, checked, "data-keep": `${name}=${value}` }, text, count });
  };
  const bands = facets.price.values.map(({ gte, lt, count }) => {
    return { value: `${gte}-${lt}`, text: formatRange(gte, lt, currency), count };
  });
  const form = take("filters", {
    categories: drawCategories(filters, facets.categories.values, categories),
    prices: [{ value: "", text: t("filter.anyPrice") }, ...bands].map((band) => choice("price", "radio", band)),
    tags: facets.tags.values.map(({ value }) => choice("tag", "checkbox", { value, text: named("tag", value) })),
  });
  for (const name of ["available", "on_sale"]) form.elements[name].checked = filters[name] === "true";
  return form;
}

function drawCategories(filters, values, categories) {
  const counts = new Map(values.map(({ id, count }) => [id, count]));
  const row = (slug, title, count, below = []) => {
    const isCurrent = (filters.category ?? "") === slug && "true";
    const href = address("", { ...filters, category: slug });
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
