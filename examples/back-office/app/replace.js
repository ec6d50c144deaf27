import { focusOn, toast } from "./dom.js";

/**
 * Shows a part of a page instead of another, moves the focus to its beginning, and says what was done. What was typed
 * into other forms of the part stays.
 */
export function replace(old, next, text) {
  for (const from of old.querySelectorAll(".form[data-changed]")) keepTyped(from, old, next);
  old.replaceWith(next);
  focusOn(next.querySelector("h1, h3, summary, p") ?? next);
  if (text) toast(text);
}

function keepTyped(from, old, next) {
  const [before, after] = [old, next].map((part) => [...part.querySelectorAll(`[data-form="${from.dataset.form}"]`)]);
  // With more or fewer forms of the kind, it is not certain which one it was.
  if (before.length !== after.length) return;
  const to = after[before.indexOf(from)];
  to.dataset.changed = "";
  for (const { name, value, checked } of from.elements) {
    if (name && to.elements[name]) Object.assign(to.elements[name], { value, checked });
  }
  const details = to.closest("details");
  if (details) details.open = true;
}
