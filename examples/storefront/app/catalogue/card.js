import { address } from "../address.js";
import { h } from "../dom.js";
import { t } from "../words.js";
import { likeButton } from "./like.js";
import { picture } from "./picture.js";
import { isAvailable, isOnSale, price } from "./price.js";

/** What lists read of a product. */
export const cardFields =
  "title,slug,price,compare_at_price,currency,images,available,allow_backorder,variants,likes_count";

/** A product in a list. Its link covers the whole card; the heart lies above it. */
export function card(product, { isFirst = false } = {}) {
  const label = !isAvailable(product) ? "stock.none" : isOnSale(product) ? "price.sale" : null;
  return h(
    "li",
    { class: "card", "data-test": "product" },
    h(
      "div",
      { class: "card-picture" },
      picture(product.images[0], {
        sizes: "(min-width: 64rem) 19rem, (min-width: 40rem) 33vw, 50vw",
        isFirst,
        alt: "",
      }),
      label && h("span", { class: label === "price.sale" ? "tag is-sale" : "tag" }, t(label)),
      likeButton(product),
    ),
    h("h3", null, h("a", { href: address("p", product.slug) }, product.title)),
    h("p", null, price(product)),
  );
}

/** Cards to come. */
export function cardPlaceholders(count) {
  return Array.from({ length: count }, () =>
    h("li", { class: "card is-waiting" }, h("div", { class: "card-picture" }), h("h3"), h("p")),
  );
}
