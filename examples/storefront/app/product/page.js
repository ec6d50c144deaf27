import { address } from "../address.js";
import { addLine } from "../basket/basket.js";
import { quantityField } from "../basket/quantity.js";
import { card, cardFields, cardPlaceholders } from "../catalogue/card.js";
import { readCategories } from "../catalogue/categories.js";
import { likeButton, markLikes } from "../catalogue/like.js";
import { picture } from "../catalogue/picture.js";
import { availability, isAvailable, price } from "../catalogue/price.js";
import { h, toast } from "../dom.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { variantChooser } from "./variants.js";
import { wishButton } from "./wish.js";

export function placeholder() {
  return h(
    "div",
    { class: "product is-waiting", "aria-hidden": "true" },
    h("div", { class: "product-pictures" }, h("div", { class: "picture" })),
    h("div", { class: "product-text" }, h("h1"), h("p"), h("p")),
  );
}

/** One product: pictures, price, its variants, and how to get it. */
export async function show({ id, query, signal }) {
  const [product, categories] = await Promise.all([shop.products.get(id, {}, { signal }), readCategories()]);
  const own = product.category_ids.map((one) => categories.get(one)).filter(Boolean);
  const views = h("p", { class: "views" });
  void countView(product, views);
  const like = likeButton(product);
  const text = h(
    "div",
    { class: "product-text" },
    trail(own, categories),
    h("h1", null, product.title),
    buyingForm(product, query.get("variant")),
    h("p", { class: "description" }, product.description),
    product.tags.length > 0 &&
      h("ul", { class: "tag-list", "aria-label": t("filter.tags") }, product.tags.map(tagLink)),
    h("div", { class: "product-actions" }, wishButton(product), like),
    views,
  );
  const alike = h("section", { class: "alike" });
  void drawAlike(alike, product, own, signal);
  const content = [h("article", { class: "product" }, pictures(product), text), alike];
  void markLikes(text, signal);
  return { title: product.title, content };
}

function pictures({ images }) {
  const sizes = "(min-width: 64rem) 36rem, (min-width: 48rem) 50vw, 100vw";
  const shown = images.length > 0 ? images : [null];
  return h(
    "div",
    { class: "product-pictures" },
    shown.map((image, index) => picture(image, { sizes, isFirst: index === 0 })),
  );
}

/** From the top category down to the product's own. */
function trail(own, categories) {
  const path = [];
  for (let one = own[0]; one; one = categories.get(one.parent_id)) path.unshift(one);
  const links = path.map(({ slug, title }) => h("li", null, h("a", { href: address("", { category: slug }) }, title)));
  const all = h("li", null, h("a", { href: "#/" }, t("frame.goods")));
  return h("nav", { class: "trail", "aria-label": t("product.trail") }, h("ol", null, all, links));
}

const tagLink = (tag) => h("li", null, h("a", { href: address("", { tag }) }, tag));

function buyingForm(product, variantId) {
  const quantity = quantityField({ value: 1, label: t("basket.quantity") });
  const cost = h("p", { class: "cost", "data-test": "price" });
  const stock = h("p", { class: "stock", role: "status" });
  const button = h("button", { type: "submit", class: "button" }, t("product.add"));
  let item = product;
  const choose = (chosen) => {
    item = chosen;
    cost.replaceChildren(price({ ...(chosen ?? product), variants: chosen ? [] : product.variants }));
    const canBuy = chosen !== null && isAvailable({ ...chosen, allow_backorder: product.allow_backorder });
    stock.textContent = chosen
      ? availability({ ...chosen, allow_backorder: product.allow_backorder })
      : t("stock.unmade");
    stock.classList.toggle("is-out", !canBuy);
    button.disabled = !canBuy;
  };
  const chooser = product.variants.length > 0 && variantChooser(product, variantId, choose);
  if (!chooser) choose(product);
  const submit = (event) => {
    event.preventDefault();
    addLine(toLine(product, item, quantity.read()));
    toast(t("product.added", { title: product.title }), " ", h("a", { href: "#/basket" }, t("product.toBasket")));
  };
  return h(
    "form",
    { class: "buying", onsubmit: submit },
    cost,
    chooser,
    stock,
    h("div", { class: "buying-row" }, quantity.field, button),
  );
}

/** What the basket keeps of a product. */
function toLine(product, item, quantity) {
  const isVariant = item !== product;
  return {
    product_id: product.id,
    ...(isVariant && { variant_id: item.id, variant_title: item.title }),
    slug: product.slug,
    title: product.title,
    image: item.images[0] ?? product.images[0] ?? null,
    price_minor: item.price_minor,
    currency: product.currency,
    quantity,
  };
}

/** Counts the view, once a day for each visitor, and says how many there are. */
async function countView({ id }, line) {
  try {
    const { count } = await shop.views.add({ resource_type: "product", resource_id: id });
    if (count > 0) line.textContent = t("product.views", { count });
  } catch (error) {
    console.warn(error);
  }
}

/** Other goods of the same category. */
async function drawAlike(section, product, [category], signal) {
  if (!category) return;
  const goods = h("ul", { class: "goods is-row" }, cardPlaceholders(4));
  section.append(h("h2", null, t("product.alike", { category: category.title })), goods);
  try {
    const query = { category: category.slug, limit: 5, fields: cardFields, sort: "popular" };
    const { data } = await shop.products.list(query, { signal }).page();
    const others = data.filter(({ id }) => id !== product.id).slice(0, 4);
    if (others.length === 0) return section.replaceChildren();
    goods.replaceChildren(...others.map((one) => card(one)));
    void markLikes(goods, signal);
  } catch (error) {
    section.replaceChildren();
    if (!signal.aborted) console.warn(error);
  }
}
