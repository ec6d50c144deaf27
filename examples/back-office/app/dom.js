import { t } from "./words.js";

const isNone = (value) => (value ?? false) === false;

/** `text` sets the content, names such as `onclick` add listeners. Nothing is ever read as markup. */
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
  element.append(...children.flat(Infinity).filter((child) => !isNone(child)));
  return element;
}

export function translate(root) {
  for (const element of root.querySelectorAll("[data-word], [data-label]")) {
    const { word, label } = element.dataset;
    if (word) element.textContent = t(word);
    if (label) element.ariaLabel = t(label);
  }
}

let fading;

export function toast(text) {
  const box = document.querySelector("#toast");
  box.replaceChildren(h("p", {}, text));
  clearTimeout(fading);
  fading = setTimeout(() => box.replaceChildren(), 6000);
}

export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

/** A page or a part of it with a heading, which gets the focus. */
export const section = (title, ...children) => h("section", {}, h("h2", {}, title), ...children);

export const page = (title, ...children) => h("div", { class: "page" }, h("h1", { tabindex: -1 }, title), ...children);

/** A term and its value, for a `dl`. Nothing without a value. */
export const fact = (word, value) => value && h("div", {}, h("dt", {}, t(word)), h("dd", {}, value));

export const facts = (...all) => h("dl", { class: "facts" }, ...all);

export function badge(name, tone = "") {
  return h("span", { class: `badge ${tone}` }, t(name));
}
