import { address } from "../address.js";
import { addLine } from "../basket/basket.js";
import { quantityField } from "../basket/quantity.js";
import { suggestions } from "../catalogue/card.js";
import { likeButton, markLikes } from "../catalogue/like.js";
import { availability, isAvailable, price } from "../catalogue/price.js";
import { h, slot, take, toast } from "../dom.js";
import { optionally } from "../errors.js";
import { readCategories, shop } from "../shop.js";
import { priceNote, readStore, taxNote } from "../store.js";
import { named, t } from "../words.js";
import { gallery } from "./gallery.js";
import { variantChooser } from "./variants.js";
import { wishButton } from "./wish.js";

export async function show({ id, query, signal }) {
  const reads = [shop.products.get(id, {}, { signal }), readCategories(), readStore()];
  const [product, categories, store] = await Promise.all(reads);
  const { requires_shipping: isShipped } = product;
  const path = [];
  let category = product.category_ids.map((one) => categories.get(one)).find(Boolean);
  for (; category; category = categories.get(category.parent_id)) path.unshift(category);
  const trail = path.map(({ slug, title }) => link(address("", { category: slug }), title));
  const content = take("product", {
    pictures: gallery(product.images),
    trail: [link("#/", t("frame.goods")), ...trail],
    title: product.title,
    note: isShipped ? priceNote(store) : taxNote(store),
    delivery: isShipped && t("delivery.time"),
    description: product.description,
    tags: product.tags.length > 0 && product.tags.map((tag) => link(address("", { tag }), named("tag", tag))),
    actions: [wishButton(product), likeButton(product)],
  });
  startBuying(content, product, query.get("variant"));
  void optionally(async () => {
    const { count } = await shop.views.add({ resource_type: "product", resource_id: product.id });
    slot(content, "views").textContent = count > 0 ? t("product.views", { count }) : "";
  });
  void markLikes(content);
  void optionally(async () => {
    const others = await suggestions("product.others", path[0]?.slug, product.id, product.tags);
    if (!others) return;
    content.append(others);
    await markLikes(others);
  });
  return content;
}

const link = (href, text) => h("li", {}, h("a", { href }, text));

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
    toast(t("product.added", { title: product.title }), "#/basket", "product.toBasket");
  });
}

function toLine(product, item, quantity) {
  const { id: product_id, slug, title, currency } = product;
  const variant = item !== product && { variant_id: item.id, variant_title: item.title };
  const image = item.images[0] ?? product.images[0] ?? null;
  return { product_id, ...variant, slug, title, image, currency, price_minor: item.price_minor, quantity };
}
