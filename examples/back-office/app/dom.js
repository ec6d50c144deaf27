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

/** `h("p.hint", { id: "x" }, "text")`: an element with its class, its attributes, if any, and its children. */
export function h(name, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const child of children.flat(Infinity)) {
    if (child?.constructor === Object) set(element, child);
    else if (!isNone(child)) element.append(child);
  }
  return element;
}

/** Sets the texts of an element's descendants, which have the attributes `data-word` and `data-label`. */
export function translate(root, values) {
  for (const element of root.querySelectorAll("[data-word], [data-label]")) {
    const { word, label } = element.dataset;
    if (word) element.textContent = t(word, values);
    if (label) element.ariaLabel = t(label);
  }
}

const toasts = document.querySelector("#toast");
let fading;
let isForNext = false;

/** Shows a text for some seconds, at most until the page is left. A text for the next page stays then. */
export function toast(text, { next = false } = {}) {
  isForNext = next;
  toasts.replaceChildren(h("p", text));
  clearTimeout(fading);
  fading = setTimeout(() => toasts.replaceChildren(), 6000);
}

export function leaveToasts() {
  if (!isForNext) toasts.replaceChildren();
  isForNext = false;
}

export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

export const section = (word, ...children) => h("section", h("h2", t(word)), children);

export const page = (title, ...children) => h("div.page", h("h1", { tabindex: -1 }, title), children);

/** A page of one form. */
export const narrowPage = (word, ...children) => h("div.page.narrow", h("h1", { tabindex: -1 }, t(word)), children);

/** A term and its value, for `facts`. Nothing without a value. */
export const fact = (word, value) => value && h("div", h("dt", t(word)), h("dd", value));

export const facts = (...all) => h("dl.facts", all);

export const badge = (word, tone = "") => h("span", { class: `badge ${tone}` }, t(word));

export const link = (href, word) => h("p", h("a", { href }, t(word)));

/** Parts of a line of text; empty ones are left out. */
export const joined = (...parts) => parts.filter(Boolean).join(" · ");

/** Saves a text as a file of the browser. It is never opened as a page of this address. */
export function save(name, text, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
