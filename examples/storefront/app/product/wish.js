import { address, go } from "../address.js";
import { h, icon, toast } from "../dom.js";
import { explain } from "../errors.js";
import { isSignedIn, shop } from "../shop.js";
import { t } from "../words.js";

/** Puts a product on the customer's wishlist, or takes it off. A visitor signs in first. */
export function wishButton({ id, title }) {
  const label = h("span");
  const button = h(
    "button",
    { type: "button", class: "button is-quiet wish", "aria-pressed": "false" },
    icon("bookmark"),
    label,
  );
  const draw = (isOn) => {
    button.ariaPressed = String(isOn);
    label.textContent = t(isOn ? "wish.added" : "wish.add");
  };
  draw(false);
  void isWished(id).then(draw);
  button.addEventListener("click", async () => {
    const isOn = button.ariaPressed === "true";
    if (!(await isSignedIn())) return go(address("sign-in", { next: location.hash }));
    try {
      await (isOn ? shop.wishlist.remove(id) : shop.wishlist.add({ product_id: id }));
      draw(!isOn);
      toast(
        t(isOn ? "wish.removed" : "wish.done", { title }),
        " ",
        !isOn && h("a", { href: "#/wishlist" }, t("frame.wishlist")),
      );
    } catch (error) {
      toast(explain(error));
    }
  });
  return button;
}

async function isWished(id) {
  if (!(await isSignedIn())) return false;
  try {
    await shop.wishlist.get(id);
    return true;
  } catch {
    return false;
  }
}
