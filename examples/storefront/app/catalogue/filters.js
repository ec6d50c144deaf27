import { address } from "../address.js";
import { h } from "../dom.js";
import { formatRange } from "../money.js";
import { t } from "../words.js";

/** How many tags are offered before all others. */
const shownTags = 12;

/** The address is the state of the filters: it can be shared, and the back button undoes one choice. */
export function readFilters(query) {
  return {
    q: query.get("q") ?? undefined,
    category: query.get("category") ?? undefined,
    tag: query.getAll("tag"),
    min: query.get("min") ?? undefined,
    max: query.get("max") ?? undefined,
    available: query.get("available") === "true" || undefined,
    on_sale: query.get("on_sale") === "true" || undefined,
    sort: query.get("sort") ?? undefined,
  };
}

/** The address of the catalogue with these filters. */
export function filtersAddress(filters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    for (const one of [value].flat()) if (one) query.append(name, one);
  }
  return address("", query);
}

/** The filters as the query of `GET /products/`. */
export function toQuery({ min, max, q, sort, ...filters }) {
  const price = { ...(min && { gte: min }), ...(max && { lt: max }) };
  const order = q ? (sort ?? "relevance") : sort;
  return { ...filters, q, sort: order === "new" ? undefined : order, ...((min || max) && { price }) };
}

export const isFiltered = ({ sort, ...filters }) => Object.values(filters).flat().some(Boolean);

/** The filters that would leave something, with how much. */
export function drawFilters({ filters, facets, categories, currency }) {
  return [
    drawCategories(filters, facets.categories, categories),
    drawPrices(filters, facets.price, currency),
    drawTags(filters, facets.tags),
    h(
      "fieldset",
      null,
      h("legend", null, t("filter.only")),
      check({ name: "available", value: "true", checked: filters.available }, t("filter.available")),
      check({ name: "on_sale", value: "true", checked: filters.on_sale }, t("filter.sale")),
    ),
  ];
}

function drawCategories(filters, { values }, categories) {
  const counts = new Map(values.map(({ id, count }) => [id, count]));
  const branch = (parent) =>
    [...categories.values()]
      .filter(({ id, parent_id }) => parent_id === parent && counts.has(id))
      .map(({ id, slug, title }) => {
        const below = branch(id);
        return h("li", null, link(slug, title, counts.get(id)), below.length > 0 && h("ul", null, below));
      });
  const link = (slug, title, count) =>
    h(
      "a",
      {
        href: filtersAddress({ ...filters, category: slug }),
        "aria-current": (filters.category ?? "") === slug && "true",
        "data-keep": `category=${slug}`,
      },
      h("span", null, title),
      count !== undefined && h("span", { class: "count" }, count),
    );
  return h(
    "nav",
    { class: "categories", "aria-label": t("filter.categories") },
    h("h2", null, t("filter.categories")),
    h("ul", null, h("li", null, link("", t("frame.goods"))), branch(null)),
  );
}

function drawPrices({ min, max }, { values }, currency) {
  const chosen = min || max ? `${min ?? ""}-${max ?? ""}` : "";
  const bands = values.map(({ gte, lt, count }) =>
    choice({ name: "price", value: `${gte}-${lt}`, type: "radio", checked: chosen === `${gte}-${lt}` }, [
      formatRange(gte, lt, currency),
      h("span", { class: "count" }, count),
    ]),
  );
  const any = choice({ name: "price", value: "", type: "radio", checked: chosen === "" }, t("filter.anyPrice"));
  return h("fieldset", null, h("legend", null, t("filter.price")), any, bands);
}

function drawTags({ tag: chosen }, { values }) {
  const offered = values.filter(({ value }, index) => index < shownTags || chosen.includes(value));
  if (offered.length === 0) return null;
  return h(
    "fieldset",
    { class: "tags" },
    h("legend", null, t("filter.tags")),
    offered.map(({ value }) => check({ name: "tag", value, checked: chosen.includes(value) }, value)),
  );
}

const check = (attributes, label) => choice({ ...attributes, type: "checkbox" }, label);

function choice({ name, value, ...attributes }, label) {
  return h(
    "label",
    { class: "choice" },
    h("input", { name, value, ...attributes, "data-keep": `${name}=${value}` }),
    h("span", null, label),
  );
}
