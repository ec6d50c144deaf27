import { address } from "../address.js";
import { picture } from "../catalogue/picture.js";
import { h, slot, take, toast } from "../dom.js";
import { act } from "../errors.js";
import { formatMoney } from "../money.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

/** What the customer has put aside. Things that the shop has no more stay in the list until they are taken off. */
export async function show({ signal }) {
  const { data } = await shop.wishlist.list({ limit: 100 }, { signal }).page();
  const content = take("wishlist");
  const draw = () => {
    const isEmpty = slot(content, "goods").childElementCount === 0;
    slot(content, "rest").replaceChildren(isEmpty ? take("nothing", { text: t("wish.none") }) : "");
  };
  slot(content, "goods").append(...data.map((item) => wish(item, draw)));
  draw();
  return content;
}

function wish({ product_id, product, price, price_at_add: before, currency, available }, draw) {
  const title = product?.title ?? t("wish.gone");
  const remove = async () => {
    await shop.wishlist.remove(product_id);
    root.remove();
    draw();
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
