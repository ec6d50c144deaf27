import { h, icon, toast } from "../dom.js";
import { explain } from "../errors.js";
import { shop } from "../shop.js";
import { t } from "../words.js";

const resource_type = "product";

/** A heart with the number of likes. Nobody needs an account to like something. */
export function likeButton({ id, title, likes_count: count }) {
  const button = h(
    "button",
    { type: "button", class: "like", "data-like": id, "aria-label": t("like.add", { title }) },
    icon("heart"),
    h("span", { class: "like-count" }),
  );
  draw(button, { active: false, count });
  button.addEventListener("click", () => toggle(button));
  return button;
}

/** Marks what this visitor likes, for all hearts in one call. Hearts are no reason for an error page. */
export async function markLikes(root, signal) {
  const buttons = [...root.querySelectorAll("[data-like]:not([data-known])")];
  if (buttons.length === 0) return;
  const ids = buttons.map((button) => button.dataset.like);
  try {
    const states = await shop.likes.get({ resource_type, resource_id: ids }, { signal });
    for (const state of [states].flat()) {
      const button = buttons.find(({ dataset }) => ids.length === 1 || dataset.like === state.resource_id);
      if (!button) continue;
      button.dataset.known = "";
      draw(button, state);
    }
  } catch (error) {
    if (!signal?.aborted) console.warn(error);
  }
}

async function toggle(button) {
  const isLiked = button.ariaPressed === "true";
  const before = { active: isLiked, count: Number(button.dataset.count) };
  const resource = { resource_type, resource_id: button.dataset.like };
  // The heart answers at once, and takes it back if the store refuses.
  draw(button, { active: !isLiked, count: before.count + (isLiked ? -1 : 1) });
  try {
    draw(button, await (isLiked ? shop.likes.remove(resource) : shop.likes.add(resource)));
  } catch (error) {
    draw(button, before);
    toast(explain(error));
  }
}

function draw(button, { active, count }) {
  button.ariaPressed = String(active);
  button.dataset.count = count;
  button.querySelector(".like-count").textContent = count || "";
}
