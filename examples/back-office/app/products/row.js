import { address } from "../address.js";
import { badge, h } from "../dom.js";
import { row } from "../list.js";
import { shop } from "../store.js";
import { formatMoney, t } from "../words.js";

export const listFields = "title,price,currency,images,status,available,variants";

export function picture(image, width = 320) {
  if (!image) return h("span.picture");
  const img = h("img.picture", { alt: "", loading: "lazy", src: shop.imageUrl(image, width) });
  // The browser does not load pictures from other sites.
  img.addEventListener("error", () => img.replaceWith(h("span.picture")));
  return img;
}

export function productRow({ id, title, price, currency, images, status, available }) {
  const stock = available === null ? t("stock.uncounted") : t("stock.left", { count: available });
  const mark = status !== "published" && badge(`product.${status}`);
  const item = row(address("products", id), title, stock, formatMoney(price, currency), mark);
  item.firstElementChild.prepend(picture(images[0]));
  return item;
}
