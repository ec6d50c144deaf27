import { t } from "./words.js";

/** Copies a template and translates it. A slot's value is its content, or attributes; no value removes the slot. */
export function take(id, slots = {}) {
  const root = document.getElementById(id).content.firstElementChild.cloneNode(true);
  translate(root);
  // Finds all slots before it fills any, because a slot may be inside another one that is removed.
  const found = Object.entries(slots).map(([name, value]) => [slot(root, name), value]);
  for (const [element, value] of found) fill(element, value);
  return root;
}

export const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

const isNone = (value) => (value ?? false) === false;

function fill(element, value) {
  if (isNone(value)) element.remove();
  else if (value.constructor === Object) set(element, value);
  else element.replaceChildren(...[value].flat(Infinity).filter((child) => !isNone(child)));
}

/** `text` sets the content; names such as `onclick` add listeners. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (!isNone(value)) element.setAttribute(name, value === true ? "" : value);
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

export function toast(text, href, word) {
  const box = document.querySelector("#toast");
  box.dataset.page = location.hash;
  box.replaceChildren(h("p", {}, text, " ", href && h("a", { href }, t(word))));
  clearTimeout(fading);
  fading = setTimeout(() => box.replaceChildren(), 6000);
}

export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
