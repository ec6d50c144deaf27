import { address, go } from "../address.js";
import { slot, take, toast } from "../dom.js";
import { onClick, optionally } from "../errors.js";
import { isSignedIn, shop } from "../shop.js";
import { t } from "../words.js";

export function wishButton({ id, title }) {
  const button = take("wish-button");
  let isOn = false;
  const draw = () => {
    button.ariaPressed = String(isOn);
    slot(button, "label").textContent = t(isOn ? "wish.added" : "wish.add");
  };
  const toggle = async () => {
    if (!(await isSignedIn())) return go(address("sign-in", { next: location.hash }));
    await (isOn ? shop.wishlist.remove(id) : shop.wishlist.add({ product_id: id }));
    isOn = !isOn;
    draw();
    if (isOn) toast(t("wish.done", { title }), "#/wishlist", "frame.wishlist");
    else toast(t("wish.removed", { title }));
  };
  onClick(button, toggle);
  draw();
  void optionally(async () => {
    if (!(await isSignedIn())) return;
    const { data } = await shop.wishlist.list({ limit: 100 }).page();
    isOn = data.some(({ product_id }) => product_id === id);
    draw();
  });
  return button;
}
