import { address, go } from "../address.js";
import { h, slot, take, toast } from "../dom.js";
import { explain } from "../errors.js";
import { isSignedIn, shop } from "../shop.js";
import { t } from "../words.js";

/** Puts a product on the customer's wishlist, or takes it off. A visitor signs in first. */
export function wishButton({ id, title }) {
  const button = take("wish-button");
  const draw = (isOn) => {
    button.ariaPressed = String(isOn);
    slot(button, "label").textContent = t(isOn ? "wish.added" : "wish.add");
  };
  draw(false);
  void isWished(id).then(draw);
  button.addEventListener("click", async () => {
    const isOn = button.ariaPressed === "true";
    if (!(await isSignedIn())) return go(address("sign-in", { next: location.hash }));
    try {
      await (isOn ? shop.wishlist.remove(id) : shop.wishlist.add({ product_id: id }));
      draw(!isOn);
      if (isOn) toast(t("wish.removed", { title }));
      else toast(t("wish.done", { title }), h("a", { href: "#/wishlist" }, t("frame.wishlist")));
    } catch (error) {
      toast(explain(error));
    }
  });
  return button;
}

/** Asks the list, because asking for one item that is not on it is an error. */
async function isWished(id) {
  if (!(await isSignedIn())) return false;
  const { data } = await shop.wishlist
    .list({ limit: 100 })
    .page()
    .catch(() => ({ data: [] }));
  return data.some(({ product_id }) => product_id === id);
}
