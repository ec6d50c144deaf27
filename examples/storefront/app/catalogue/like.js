import { slot, take, toast } from "../dom.js";
import { explain, optionally } from "../errors.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

const resource_type = "product";

/** A heart with the number of likes. Nobody needs an account to like something. */
export function likeButton({ id, title, likes_count: count }) {
  const button = take("like", { title: t("like.add", { title }) });
  button.dataset.like = id;
  draw(button, { active: false, count });
  button.addEventListener("click", () => toggle(button));
  return button;
}

/** Marks what this visitor likes, in one call for all hearts that are not marked yet. */
export const markLikes = (root, signal) =>
  optionally(async () => {
    const buttons = new Map(
      [...root.querySelectorAll("[data-like]:not([data-known])")].map((one) => [one.dataset.like, one]),
    );
    if (buttons.size === 0) return;
    const resource_id = [...buttons.keys()];
    const states = [await shop.likes.get({ resource_type, resource_id }, { signal })].flat();
    for (const state of states) {
      const button = buttons.get(state.resource_id ?? resource_id[0]);
      button.dataset.known = "";
      draw(button, state);
    }
  });

/** The heart answers at once, and takes it back if the store refuses. */
async function toggle(button) {
  const before = { active: button.ariaPressed === "true", count: Number(button.dataset.count) };
  const resource = { resource_type, resource_id: button.dataset.like };
  draw(button, { active: !before.active, count: before.count + (before.active ? -1 : 1) });
  try {
    draw(button, await (before.active ? shop.likes.remove(resource) : shop.likes.add(resource)));
  } catch (error) {
    draw(button, before);
    toast(explain(error));
  }
}

function draw(button, { active, count }) {
  button.ariaPressed = String(active);
  button.dataset.count = count;
  slot(button, "likes").textContent = count || "";
}
