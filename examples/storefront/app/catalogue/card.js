import { address } from "../address.js";
import { take } from "../dom.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { likeButton } from "./like.js";
import { picture } from "./picture.js";
import { isAvailable, isOnSale, price } from "./price.js";

export const cardFields =
  "title,slug,price,compare_at_price,currency,images,available,allow_backorder,variants,likes_count,tags";

const sizes = "(min-width: 64rem) 19rem, (min-width: 40rem) 33vw, 50vw";

export function card(product) {
  const isOut = !isAvailable(product);
  return take("card", {
    picture: picture(product.images[0], sizes),
    out: isOut && t("stock.none"),
    sale: !isOut && isOnSale(product) && t("price.sale"),
    like: likeButton(product),
    link: { href: address("p", product.slug), text: product.title },
    price: price(product),
  });
}

/** Suggests four popular goods of a category: those that share most `tags`. */
export async function suggestions(word, category, id, tags = []) {
  const { data } = await shop.products.list({ category, sort: "popular", limit: 24, fields: cardFields }).page();
  const common = (one) => one.tags.filter((tag) => tags.includes(tag)).length;
  const others = data.filter((one) => one.id !== id).sort((a, b) => common(b) - common(a));
  return others.length > 0 && take("suggestions", { title: t(word), goods: others.slice(0, 4).map(card) });
}
