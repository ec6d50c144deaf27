import { address } from "../address.js";
import { take } from "../dom.js";
import { t } from "../words.js";
import { likeButton } from "./like.js";
import { picture } from "./picture.js";
import { isAvailable, isOnSale, price } from "./price.js";

export const cardFields =
  "title,slug,price,compare_at_price,currency,images,available,allow_backorder,variants,likes_count";

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
