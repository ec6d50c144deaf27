import { slot, take } from "../dom.js";
import { onClick, optionally } from "../errors.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

const resource_type = "product";

export function likeButton({ id, title, likes_count: count }) {
  const button = take("like", { title: t("like.add", { title }) });
  button.dataset.like = id;
  draw(button, { active: false, count });
  onClick(button, async () => {
    const method = button.ariaPressed === "true" ? shop.likes.remove : shop.likes.add;
    draw(button, await method({ resource_type, resource_id: id }));
  });
  return button;
}

/** Marks the hearts of liked goods, with one request for all new hearts. */
export const markLikes = (root) =>
  optionally(async () => {
    const buttons = new Map(
      [...root.querySelectorAll("[data-like]:not([data-known])")].map((one) => [one.dataset.like, one]),
    );
    if (buttons.size === 0) return;
    const resource_id = [...buttons.keys()];
    const states = [await shop.likes.get({ resource_type, resource_id })].flat();
    for (const state of states) {
      const button = buttons.get(state.resource_id ?? resource_id[0]);
      button.dataset.known = "";
      draw(button, state);
    }
  });

function draw(button, { active, count }) {
  button.ariaPressed = String(active);
  slot(button, "likes").textContent = count || "";
}
