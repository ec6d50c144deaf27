import { focusOn, toast } from "./dom.js";

/**
 * Replaces a part of a page, moves the focus to its beginning, and shows a text. Unsaved input in other forms of the
 * part is kept.
 */
export function replace(old, next, text) {
  for (const from of old.querySelectorAll(".form[data-changed]")) keepTyped(from, old, next);
  old.replaceWith(next);
  focusOn(next.querySelector("h1, h3, summary, p") ?? next);
  if (text) toast(text);
}

function keepTyped(from, old, next) {
  const [before, after] = [old, next].map((part) => [...part.querySelectorAll(`[data-form="${from.dataset.form}"]`)]);
  // If the number of these forms has changed, nothing tells which new form is the same.
  if (before.length !== after.length) return;
  const to = after[before.indexOf(from)];
  to.dataset.changed = "";
  for (const { name, value, checked } of from.elements) {
    if (name && to.elements[name]) Object.assign(to.elements[name], { value, checked });
  }
  const details = to.closest("details");
  if (details) details.open = true;
}
