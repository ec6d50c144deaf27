import { address } from "../address.js";
import { addLine } from "../basket/basket.js";
import { quantityField } from "../basket/quantity.js";
import { card, cardFields } from "../catalogue/card.js";
import { readCategories } from "../catalogue/categories.js";
import { likeButton, markLikes } from "../catalogue/like.js";
import { picture } from "../catalogue/picture.js";
import { availability, isAvailable, price } from "../catalogue/price.js";
import { h, slot, take, toast } from "../dom.js";
import { optionally } from "../errors.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { variantChooser } from "./variants.js";
import { wishButton } from "./wish.js";

const sizes = "(min-width: 64rem) 36rem, (min-width: 48rem) 50vw, 100vw";

/** One product: pictures, price, its variants, and how to get it. */
export async function show({ id, query, signal }) {
  const [product, categories] = await Promise.all([shop.products.get(id, {}, { signal }), readCategories()]);
  const category = product.category_ids.map((one) => categories.get(one)).find(Boolean);
  const images = product.images.length > 0 ? product.images : [null];
  const content = take("product", {
    pictures: images.map((image, index) => picture(image, sizes, { isFirst: index === 0, alt: image?.alt ?? "" })),
    trail: trail(category, categories),
    title: product.title,
    description: product.description,
    tags: product.tags.length > 0 && product.tags.map((tag) => link(address("", { tag }), tag)),
    actions: [wishButton(product), likeButton(product)],
  });
  startBuying(content, product, query.get("variant"));
  void optionally(() => countView(product, slot(content, "views")));
  void optionally(() => drawAlike(slot(content, "alike"), product, category, signal));
  void markLikes(content, signal);
  return content;
}

const link = (href, text) => h("li", {}, h("a", { href }, text));

/** From the top category down to the product's own. */
function trail(category, categories) {
  const links = [];
  for (let one = category; one; one = categories.get(one.parent_id)) {
    links.unshift(link(address("", { category: one.slug }), one.title));
  }
  return [link("#/", t("frame.goods")), ...links];
}

function startBuying(content, product, variantId) {
  const [cost, stock, button] = ["cost", "stock", "add"].map((name) => slot(content, name));
  const quantity = quantityField({ value: 1, label: t("basket.quantity") });
  slot(content, "quantity").replaceWith(quantity.field);
  let item;
  const choose = (chosen) => {
    item = chosen;
    const offer = { ...chosen, allow_backorder: product.allow_backorder };
    cost.replaceChildren(price(chosen ? { ...chosen, variants: [] } : product));
    stock.textContent = chosen ? availability(offer) : t("stock.unmade");
    button.disabled = !chosen || !isAvailable(offer);
    stock.classList.toggle("is-out", button.disabled);
  };
  const hasVariants = product.variants.length > 0;
  slot(content, "options").replaceWith(hasVariants ? variantChooser(product, variantId, choose) : "");
  if (!hasVariants) choose(product);
  slot(content, "buying").addEventListener("submit", (event) => {
    event.preventDefault();
    addLine(toLine(product, item, quantity.read()));
    toast(t("product.added", { title: product.title }), h("a", { href: "#/basket" }, t("product.toBasket")));
  });
}

/** What the basket keeps of a product. */
function toLine(product, item, quantity) {
  const { id: product_id, slug, title, currency } = product;
  const variant = item !== product && { variant_id: item.id, variant_title: item.title };
  const image = item.images[0] ?? product.images[0] ?? null;
  return { product_id, ...variant, slug, title, image, currency, price_minor: item.price_minor, quantity };
}

/** Counts the view, once a day for each visitor, and says how many there are. */
async function countView({ id }, line) {
  const { count } = await shop.views.add({ resource_type: "product", resource_id: id });
  if (count > 0) line.textContent = t("product.views", { count });
}

/** Other goods of the same category. */
async function drawAlike(section, { id }, category, signal) {
  if (!category) return;
  const query = { category: category.slug, limit: 5, fields: cardFields, sort: "popular" };
  const { data } = await shop.products.list(query, { signal }).page();
  const others = data.filter((one) => one.id !== id).slice(0, 4);
  if (others.length === 0) return;
  const goods = h(
    "ul",
    { class: "goods is-row" },
    others.map((one) => card(one)),
  );
  section.append(h("h2", {}, t("product.alike", { category: category.title })), goods);
  await markLikes(section, signal);
}
