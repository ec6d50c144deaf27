import { address } from "../address.js";
import { picture } from "../catalogue/picture.js";
import { h, take, toast } from "../dom.js";
import { act } from "../errors.js";
import { shop } from "../shop.js";
import { formatMoney, t } from "../words.js";

export async function show({ signal }) {
  const { data } = await shop.wishlist.list({ limit: 100 }, { signal }).page();
  return take("wishlist", { goods: data.map(wish) });
}

function wish({ product_id, product, price, price_at_add: before, currency, available }) {
  const title = product?.title ?? t("wish.gone");
  const remove = async () => {
    await shop.wishlist.remove(product_id);
    root.remove();
    toast(t("wish.removed", { title }));
    document.querySelector("#main").focus();
  };
  const root = take("wish", {
    picture: picture(product?.image && { url: product.image }, "25vw"),
    out: !available && t("stock.none"),
    sale: available && price !== null && price < before && t("wish.cheaper"),
    title: product ? h("a", { href: address("p", product.slug) }, title) : title,
    price: price !== null && formatMoney(price, currency),
    remove: { "aria-label": t("basket.removeOf", { title }), onclick: ({ target }) => act(target, remove) },
  });
  return root;
}
