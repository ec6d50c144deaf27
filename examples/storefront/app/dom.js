import { t } from "./words.js";

/**
 * A copy of a template of `index.html` in the words of the page. The value of a slot is its content, an object of attributes and
 * listeners, or nothing, which removes the element. Texts never become markup.
 */
export function take(id, slots = {}) {
  const root = document.getElementById(id).content.firstElementChild.cloneNode(true);
  translate(root);
  for (const [name, value] of Object.entries(slots)) fill(slot(root, name), value);
  return root;
}

export const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

function fill(element, value) {
  if (value === null || value === undefined || value === false) element.remove();
  else if (Object.getPrototypeOf(value) === Object.prototype) set(element, value);
  else element.replaceChildren(...[value].flat(Infinity).filter((child) => child || child === 0));
}

/** `text` is the content, `onclick` and the like are listeners, and what is false or missing is left out. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value || value === 0 || value === "") element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

export function h(tag, attributes, ...children) {
  const element = set(document.createElement(tag), attributes);
  fill(element, children);
  return element;
}

export function translate(root) {
  for (const element of [root, ...root.querySelectorAll("[data-word], [data-label], [data-placeholder]")]) {
    const { word, label, placeholder } = element.dataset;
    if (word) element.textContent = t(word);
    if (label) element.ariaLabel = t(label);
    if (placeholder) element.placeholder = t(placeholder);
  }
}

let fading;

export function toast(text, action = "") {
  const box = document.querySelector("#toast");
  box.replaceChildren(h("p", {}, text, " ", action));
  clearTimeout(fading);
  fading = setTimeout(() => box.replaceChildren(), 6000);
}

export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
